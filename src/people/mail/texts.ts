import {
  directionOf,
  formatter,
  type Language,
  localeOf,
  type MessageValues,
} from '../../base/texts/index.ts'
import ar from './texts/ar.json' with { type: 'json' }
import cs from './texts/cs.json' with { type: 'json' }
import de from './texts/de.json' with { type: 'json' }
import en from './texts/en.json' with { type: 'json' }
import es from './texts/es.json' with { type: 'json' }
import fr from './texts/fr.json' with { type: 'json' }
import it from './texts/it.json' with { type: 'json' }
import ja from './texts/ja.json' with { type: 'json' }
import nl from './texts/nl.json' with { type: 'json' }
import pl from './texts/pl.json' with { type: 'json' }
import ptBr from './texts/pt-BR.json' with { type: 'json' }
import tr from './texts/tr.json' with { type: 'json' }
import uk from './texts/uk.json' with { type: 'json' }
import zh from './texts/zh.json' with { type: 'json' }

/** The ICU messages of mails, in the shape of the English ones. */
type MailMessages = typeof en

export const mailMessages: Readonly<Record<Language, MailMessages>> = {
  ar,
  cs,
  de,
  en,
  es,
  fr,
  it,
  ja,
  nl,
  pl,
  'pt-BR': ptBr,
  tr,
  uk,
  zh,
}

/** The texts of mails in a language. */
export interface MailTexts {
  readonly messages: MailMessages
  readonly format: (message: string, values?: MessageValues) => string
  /** `31 July 2026`, in UTC. */
  readonly day: (unixSeconds: number) => string
}

const known = new Map<Language, MailTexts>()

export function mailTexts(language: Language): MailTexts {
  const there = known.get(language)
  if (there !== undefined) return there
  const locale = localeOf(language)
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  const { format } = formatter(locale)
  const made = {
    messages: mailMessages[language],
    format:
      directionOf(language) === 'rtl'
        ? (message: string, values: MessageValues = {}) => format(message, isolated(values))
        : format,
    day: (seconds: number) => days.format(new Date(seconds * 1000)),
  }
  known.set(language, made)
  return made
}

/** Names and addresses in Latin letters keep the order of their own parts within a sentence from right to left. */
function isolated(values: MessageValues): MessageValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? `\u2068${value}\u2069` : value,
    ]),
  )
}
