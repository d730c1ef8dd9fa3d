import { acceptedLanguage, formatter, type Language, localeOf, type Part } from '../../../base/texts/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'
import ar from './ar.json' with { type: 'json' }
import cs from './cs.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import it from './it.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }
import nl from './nl.json' with { type: 'json' }
import pl from './pl.json' with { type: 'json' }
import ptBr from './pt-BR.json' with { type: 'json' }
import tr from './tr.json' with { type: 'json' }
import uk from './uk.json' with { type: 'json' }
import zh from './zh.json' with { type: 'json' }

/** The ICU messages of the pages, in the shape of the English ones. Those in `script` are filled in by the script of the page. */
type PageMessages = typeof en

const messages: Readonly<Record<Language, PageMessages>> = {
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

/** The texts of the pages in one language: strings, and functions for messages with arguments. */
export type PageTexts = ReturnType<typeof textsIn>

function textsIn(language: Language) {
  const texts = messages[language]
  const { format, parts } = formatter(localeOf(language))
  return {
    ...texts,
    language,
    /** Format of dates. */
    locale: localeOf(language),
    /** In pieces, because the name of the person and the last day are elements. */
    sharedBy: (expires: boolean): Part[] =>
      parts(expires ? texts.sharedByUntil : texts.sharedBy, ['name', 'day']),
    bytes: (count: number) => format(texts.bytes, { count }),
    folders: (count: number) => format(texts.folders, { count }),
    files: (count: number) => format(texts.files, { count }),
    downloadOne: (name: string) => format(texts.downloadOne, { name }),
    pageOf: (page: number, pages: number) => format(texts.pageOf, { page, pages }),
    /** In pieces, because the time is an element. */
    filesUntil: parts(texts.filesUntil, ['time']),
    chooseFor: (name: string) => format(texts.chooseFor, { name }),
    uploadTo: (name: string) => format(texts.uploadTo, { name }),
    packed: (zipped: number, total: number) => format(texts.packed, { zipped, total }),
    busy: (seconds: number) => format(texts.busy, { seconds }),
    tooManyTries: (minutes: number) => format(texts.tooManyTries, { minutes }),
  }
}

const known = new Map<Language, PageTexts>()

/** The texts in the language that the browser of the visitor prefers (`Accept-Language`), else in English. */
export function textsFor({ headers }: Pick<HttpRequest, 'headers'>): PageTexts {
  const language = acceptedLanguage(headers['accept-language']) ?? 'en'
  const texts = known.get(language) ?? textsIn(language)
  known.set(language, texts)
  return texts
}
