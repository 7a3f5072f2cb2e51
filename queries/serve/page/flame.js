import{a,b}from"./chunk7.js";import"./chunk2.js";import"./chunk9.js";import"./chunk8.js";import"./chunk5.js";import"./chunk4.js";export{a as FlamePanel,b as Graph};
