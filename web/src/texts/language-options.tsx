import { languages, useTexts } from './texts.tsx'

/** The options of a select of the language, by value. Translations that nobody has reviewed yet are in a group that says so. */
export function LanguageOptions() {
  const texts = useTexts('shell')
  const option = ({ language, name }: (typeof languages)[number]) => (
    <option key={language} value={language} lang={language}>
      {name}
    </option>
  )
  const unreviewed = languages.filter(({ isReviewed }) => !isReviewed)
  return (
    <>
      {languages.filter(({ isReviewed }) => isReviewed).map(option)}
      {unreviewed.length > 0 && <optgroup label={texts.unreviewed}>{unreviewed.map(option)}</optgroup>}
    </>
  )
}
