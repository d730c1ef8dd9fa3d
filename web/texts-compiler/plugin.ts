import type { Plugin } from 'vite'
import { compileLanguage } from './load.ts'
import { listLanguages, messageFiles, readLanguageInfo, SOURCE } from './messages.ts'

const LANGUAGES = 'virtual:languages'
const TEXTS = 'virtual:texts/'

/**
 * Provides the texts to the app as modules: `virtual:texts/<language>` has those of a language, and `virtual:languages` lists the languages with a
 * function that loads each. The source language is part of the app, the others are loaded on demand.
 */
export function textModules(): Plugin {
  return {
    name: 'texts',
    resolveId: (id) => (id === LANGUAGES || id.startsWith(TEXTS) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${LANGUAGES}`) return languagesModule()
      if (!id.startsWith(`\0${TEXTS}`)) return undefined
      const language = id.slice(TEXTS.length + 1)
      for (const file of [...messageFiles(language), ...messageFiles(SOURCE)]) this.addWatchFile(file)
      return compileLanguage(language)
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
