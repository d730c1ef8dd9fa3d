import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { texts as english, type Texts } from './en/index.ts'

export const languages = { en: 'English', de: 'Deutsch', zh: '中文' } as const
export type Language = keyof typeof languages

const KEY = 'carrel.language'

const loaders: Record<Language, () => Promise<Texts>> = {
  en: async () => english,
  de: async () => (await import('./de/index.ts')).texts,
  zh: async () => (await import('./zh/index.ts')).texts,
}

interface Speaking {
  readonly language: Language
  readonly texts: Texts
  readonly choose: (language: Language) => void
}

const Context = createContext<Speaking>({ language: 'en', texts: english, choose: () => undefined })

/** The stored language, else the first supported one of the browser. */
export function preferredLanguage(): Language {
  const wishes = [localStorage.getItem(KEY) ?? '', ...navigator.languages]
  const found = wishes.map((wish) => wish.slice(0, 2).toLowerCase()).find((wish) => wish in languages)
  return (found as Language | undefined) ?? 'en'
}

export const loadTexts = (language: Language): Promise<Texts> => loaders[language]()

export function TextsProvider(props: { first: { language: Language; texts: Texts }; children: ReactNode }) {
  const [spoken, setSpoken] = useState(props.first)
  useEffect(() => {
    document.documentElement.lang = spoken.language
  }, [spoken.language])
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

/** The strings of one area in the current language. */
export function useTexts<Area extends keyof Texts>(area: Area): Texts[Area] {
  return useContext(Context).texts[area]
}

export function useLanguage(): { language: Language; choose: (language: Language) => void } {
  return useContext(Context)
}
