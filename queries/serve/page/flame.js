import{a,b}from"./chunk2.js";import"./chunk10.js";import"./chunk3.js";import"./chunk7.js";import"./chunk8.js";import"./chunk11.js";import"./chunk4.js";export{a as FlamePanel,b as Graph};
