import type { Plugin } from 'vite'
import { compileLanguage } from './load.ts'
import { listLanguages, messageFiles, readLanguageInfo, SOURCE } from './messages.ts'

const LANGUAGES = 'virtual:languages'
const TEXTS = 'virtual:texts/'
const LATER = `${TEXTS}${SOURCE}/later`
/** Areas that neither the lists of libraries nor folders use. On a slow line their texts would delay the first list. */
const LATER_AREAS = ['account', 'admin', 'history', 'onboarding', 'viewer']

/** Areas that the app of visitors of links uses, and those of its first page. */
const VISITOR_AREAS = ['archives', 'common', 'files', 'viewer', 'visitors']
const FIRST_VISITOR_AREAS = VISITOR_AREAS.filter((area) => area !== 'viewer')

/**
 * Provides the texts to the app as modules: `virtual:texts/<language>` has those of a language, and `virtual:languages` lists the languages with a
 * function that loads each. The source language is part of the app, except for `virtual:texts/en/later`; the others are loaded on demand.
 */
export function textModules(): Plugin {
  return {
    name: 'texts',
    resolveId: (id) => (id === LANGUAGES || id.startsWith(TEXTS) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${LANGUAGES}`) return languagesModule()
      if (!id.startsWith(`\0${TEXTS}`)) return undefined
      const isLater = id === `\0${LATER}`
      const language = isLater ? SOURCE : id.slice(TEXTS.length + 1)
      for (const file of [...messageFiles(language), ...messageFiles(SOURCE)]) this.addWatchFile(file)
      const ofVisitors = this.environment.name === 'link'
      const isUsed = (area: string) => !ofVisitors || VISITOR_AREAS.includes(area)
      if (language !== SOURCE) return compileLanguage(language, isUsed)
      const isFirst = (area: string) =>
        ofVisitors ? FIRST_VISITOR_AREAS.includes(area) : !LATER_AREAS.includes(area)
      return compileLanguage(SOURCE, (area) => isUsed(area) && isFirst(area) !== isLater)
    },
  }
}

function languagesModule(): string {
  const entries = listLanguages().map((language) => {
    const info = JSON.stringify(readLanguageInfo(language))
    return `${JSON.stringify(language)}: ${info}`
  })
  const loaders = listLanguages()
    .filter((language) => language !== SOURCE)
    .map((language) => `${JSON.stringify(language)}: () => import(${JSON.stringify(TEXTS + language)})`)
  return `export const languages = {${entries.join(',')}}\nexport const loaders = {${loaders.join(',')}}\n`
}
