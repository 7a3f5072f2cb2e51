import{a,b}from"./chunk9.js";import"./chunk2.js";import"./chunk3.js";import"./chunk8.js";import"./chunk7.js";import"./chunk1.js";export{a as FlamePanel,b as Graph};
