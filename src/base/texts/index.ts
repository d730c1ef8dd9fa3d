export { formatter, type MessageValues, type Part } from './formatter.ts'
export { acceptedLanguage, directionOf, isLanguage, type Language, languages, localeOf } from './languages.ts'
