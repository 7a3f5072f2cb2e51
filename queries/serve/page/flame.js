import{a,b}from"./chunk5.js";import"./chunk1.js";import"./chunk10.js";import"./chunk7.js";import"./chunk8.js";import"./chunk11.js";import"./chunk3.js";export{a as FlamePanel,b as Graph};
