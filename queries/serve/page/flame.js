import{a,b}from"./chunk2.js";import"./chunk1.js";import"./chunk3.js";import"./chunk6.js";import"./chunk10.js";import"./chunk8.js";export{a as FlamePanel,b as Graph};
