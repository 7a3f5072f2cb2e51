// The catalog for SQL: the views, macros, tables, columns and functions that queries can name.
export interface SQLColumn {
  name: string;
  type: string;
  unit: string;
  meaning: string;
}

export interface Relation {
  name: string;
  kind: 'view' | 'macro' | 'table';
  row: string;
  parameters?: SQLColumn[];
  columns: SQLColumn[];
}

export interface SQLNames {
  relations: Relation[];
  functions: string[];
}
