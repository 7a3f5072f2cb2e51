// What SQL can name, as the server describes it.
export interface Word {
  name: string;
  type: string;
  unit: string;
  meaning: string;
}

export interface Relation {
  name: string;
  kind: 'view' | 'macro' | 'table';
  row: string;
  parameters?: Word[];
  columns: Word[];
}

export interface Words {
  relations: Relation[];
  functions: string[];
}
