import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Messages of a language by key: those of an area, or those of all areas by the name of the area. */
export interface Messages {
  readonly [key: string]: string | Messages
}

/** Arguments of messages by the same keys, as in `'count: number, name'`. On a group they are those of all its messages. */
export interface Signatures {
  readonly [key: string]: string | Signatures
}

/** What `language.json` says. */
export interface LanguageInfo {
  /** In the language itself. */
  readonly name: string
  readonly direction: 'ltr' | 'rtl'
  /** False for a machine translation that nobody has read yet. */
  readonly reviewed: boolean
}

/** The language that the others are translated from. It defines keys and arguments. */
export const SOURCE = 'en'

const textsFolder = path.join(import.meta.dirname, '../src/texts')

/** The languages by their BCP 47 tags, the source first, then by tag. */
export function listLanguages(folder = textsFolder): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((one, other) => Number(other === SOURCE) - Number(one === SOURCE) || (one < other ? -1 : 1))
}

export function readLanguageInfo(language: string, folder = textsFolder): LanguageInfo {
  return readJson(path.join(folder, language, 'language.json')) as LanguageInfo
}

/** All messages of a language. */
export function readMessages(language: string, folder = textsFolder): Messages {
  return Object.fromEntries(
    messageFiles(language, folder).map((file) => [path.basename(file, '.json'), readJson(file) as Messages]),
  )
}

export function messageFiles(language: string, folder = textsFolder): string[] {
  return readdirSync(path.join(folder, language))
    .filter((name) => name.endsWith('.json') && name !== 'language.json')
    .sort()
    .map((name) => path.join(folder, language, name))
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}
