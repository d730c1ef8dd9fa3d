export type { Formats } from './formats.ts'
export { LanguageOptions } from './language-options.tsx'
export type { Texts } from './text-types.ts'
export {
  languages,
  loadLaterTexts,
  loadTexts,
  preferredLanguage,
  showLanguage,
  TextsProvider,
  useDirection,
  useLanguage,
  useTexts,
} from './texts.tsx'
export { useFormats } from './use-formats.ts'
