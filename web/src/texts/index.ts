export type { Texts } from './en/index.ts'
export {
  type Language,
  languages,
  loadTexts,
  preferredLanguage,
  TextsProvider,
  useLanguage,
  useTexts,
} from './texts.tsx'
export { useFormats } from './use-formats.ts'
