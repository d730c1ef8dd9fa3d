export type { Texts } from './en/index.ts'
export { useFormats } from './format.ts'
export {
  type Language,
  languages,
  loadTexts,
  preferredLanguage,
  TextsProvider,
  useLanguage,
  useTexts,
} from './texts.tsx'
