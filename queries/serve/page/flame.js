import{a,b}from"./chunk4.js";import"./chunk3.js";import"./chunk2.js";import"./chunk8.js";import"./chunk9.js";import"./chunk11.js";import"./chunk5.js";export{a as FlamePanel,b as Graph};
