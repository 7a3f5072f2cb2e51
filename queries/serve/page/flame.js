import{a,b}from"./chunk3.js";import"./chunk8.js";import"./chunk1.js";import"./chunk9.js";import"./chunk10.js";import"./chunk4.js";export{a as FlamePanel,b as Graph};
