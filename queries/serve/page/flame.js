import{a,b}from"./chunk4.js";import"./chunk1.js";import"./chunk8.js";import"./chunk9.js";import"./chunk6.js";import"./chunk3.js";export{a as FlamePanel,b as Graph};
