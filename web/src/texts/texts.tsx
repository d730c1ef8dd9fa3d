import { languages as known, loaders } from 'virtual:languages'
import createEnglish from 'virtual:texts/en'
import { createContext, type ReactNode, use, useContext, useLayoutEffect, useMemo, useState } from 'react'
import { chooseLanguage, regionalVariant } from './language-choice.ts'
import { type MessageRuntime, messageRuntime } from './message-runtime.ts'
import type { Texts } from './text-types.ts'

/** A BCP 47 tag. */
type Language = string

const SOURCE = 'en'
const KEY = 'carrel.language'

/** A language that the app has texts in. */
interface LanguageEntry {
  readonly language: Language
  /** In the language itself. */
  readonly name: string
  /** Whether somebody who speaks it has read the translation. */
  readonly isReviewed: boolean
}

/** All languages, by the order of their names. */
export const languages: readonly LanguageEntry[] = Object.entries(known)
  .flatMap(([language, info]) => (info ? [{ language, name: info.name, isReviewed: info.reviewed }] : []))
  .sort((one, other) => one.name.localeCompare(other.name))

/** The default export of the module of a language. */
type CreateTexts = (own: MessageRuntime, english: MessageRuntime) => Texts

const runtimeOf = (language: Language) =>
  messageRuntime(language, regionalVariant(language, navigator.languages))
const englishRuntime = runtimeOf(SOURCE)
const english = (createEnglish as CreateTexts)(englishRuntime, englishRuntime)

let later: Promise<void> | undefined
/** The areas that were loaded by it. */
const laterAreas = new Set<string>()

/** Loads the English texts that the first page does not need. */
export function loadLaterTexts(): Promise<void> {
  later ??= fetchLaterTexts()
  return later
}

async function fetchLaterTexts(): Promise<void> {
  try {
    const module = await import('virtual:texts/en/later')
    const loaded = (module.default as CreateTexts)(englishRuntime, englishRuntime)
    for (const area of Object.keys(loaded)) laterAreas.add(area)
    Object.assign(english, loaded)
  } catch (error) {
    // The next page that needs them tries again.
    later = undefined
    throw error
  }
  // As `use()` notes it itself. Otherwise it would suspend once, because it does not know yet that the promise is fulfilled.
  Object.assign(later ?? {}, { status: 'fulfilled', value: undefined })
}

interface Speaking {
  readonly language: Language
  readonly texts: Texts
  readonly choose: (language: Language) => void
}

const Context = createContext<Speaking>({ language: SOURCE, texts: english, choose: () => undefined })

/** The stored language, else the first supported one of the browser. */
export function preferredLanguage(): Language {
  const preferred = [localStorage.getItem(KEY) ?? '', ...navigator.languages]
  return chooseLanguage(preferred, Object.keys(known)) ?? SOURCE
}

/** The texts of a language. They are English if its file cannot be loaded, which may happen without a connection. */
export async function loadTexts(language: Language): Promise<Texts> {
  const module = await loaders[language]?.().catch(() => undefined)
  if (module === undefined) return english
  return (module.default as CreateTexts)(runtimeOf(language), englishRuntime)
}

const directionOf = (language: Language) => known[language]?.direction ?? 'ltr'

/** The direction of the current language. */
export function useDirection(): 'ltr' | 'rtl' {
  return directionOf(useContext(Context).language)
}

/** Tells the browser which language the page is in, and its direction. */
export function showLanguage(language: Language): void {
  document.documentElement.lang = language
  document.documentElement.dir = directionOf(language)
}

export function TextsProvider(props: { first: { language: Language; texts: Texts }; children: ReactNode }) {
  const [spoken, setSpoken] = useState(props.first)
  // Before the texts are painted.
  useLayoutEffect(() => showLanguage(spoken.language), [spoken.language])
  const value = useMemo<Speaking>(
    () => ({
      ...spoken,
      choose(language) {
        localStorage.setItem(KEY, language)
        void loadTexts(language).then((texts) => setSpoken({ language, texts }))
      },
    }),
    [spoken],
  )
  return <Context value={value}>{props.children}</Context>
}

/** The strings of one area in the current language. Suspends while they are loaded. */
export function useTexts<Area extends keyof Texts>(area: Area): Texts[Area] {
  const { texts } = useContext(Context)
  // Also once they are loaded: React renders a suspended component again from its `use()` on, so a call must not be missing the second time.
  if (!(area in texts) || (texts === english && laterAreas.has(area))) use(loadLaterTexts())
  return texts[area]
}

export function useLanguage(): { language: Language; choose: (language: Language) => void } {
  return useContext(Context)
}
