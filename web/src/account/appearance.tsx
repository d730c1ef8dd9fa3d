import { changeProfile } from '../api/index.ts'
import { LanguageOptions, languages, useLanguage, useTexts } from '../texts/index.ts'
import { chooseTheme, SelectField, type Theme, useTheme } from '../ui/index.ts'

export function Appearance() {
  const texts = useTexts('account')
  const shell = useTexts('shell')
  const theme = useTheme()
  const { language, choose } = useLanguage()
  const isReviewed = languages.find((entry) => entry.language === language)?.isReviewed ?? true
  const themes: Readonly<Record<Theme, string>> = {
    system: shell.themeSystem,
    light: shell.themeLight,
    dark: shell.themeDark,
  }
  return (
    <section className="card account-card stack">
      <h2>{texts.appearance}</h2>
      <p className="muted">{texts.appearanceHint}</p>
      <SelectField
        label={shell.theme}
        value={theme}
        onChange={(event) => chooseTheme(event.target.value as Theme)}
      >
        {Object.entries(themes).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={shell.language}
        value={language}
        onChange={(event) => {
          choose(event.target.value)
          // Mails are in the same language. The choice holds in this browser in any case.
          changeProfile({ language: event.target.value }).catch(() => {})
        }}
        hint={isReviewed ? undefined : shell.unreviewed}
      >
        <LanguageOptions />
      </SelectField>
    </section>
  )
}
