import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  { rules: { 'max-len': ['error', 120] } },
  { files: ['**/*.mjs'], ...tseslint.configs.disableTypeChecked },
);
