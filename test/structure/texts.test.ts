import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { messageArguments } from '../../web/src/texts/message-arguments.ts'
import { checkMessages, flatten } from '../../web/texts-compiler/check.ts'
import { loadCompiledTexts } from '../../web/texts-compiler/load.ts'
import {
  listLanguages,
  type Messages,
  readLanguageInfo,
  readMessages,
  type Signatures,
  SOURCE,
} from '../../web/texts-compiler/messages.ts'

/** Languages that have every key. The others show English for a missing one. */
const COMPLETE = ['en', 'de', 'zh']

/** Languages that a person wrote or reviewed. All others are machine translations, and the app says so. */
const REVIEWED = ['en', 'de', 'zh']

const src = path.join(import.meta.dirname, '../../web/src')
const english = readMessages(SOURCE)

describe('the texts of the web app', () => {
  for (const language of listLanguages()) {
    it(`are valid messages with the arguments of English and all plural forms: ${language}`, async () => {
      const { missing, problems } = checkMessages(language, readMessages(language), english, messageArguments)
      assert.deepEqual(problems, [])
      if (COMPLETE.includes(language)) assert.deepEqual(missing, [])
      await loadCompiledTexts(language)
    })

    it(`say their name, direction and whether they were reviewed: ${language}`, () => {
      const { name, direction, reviewed, ...others } = readLanguageInfo(language)
      assert.deepEqual(others, {})
      assert.ok(typeof name === 'string' && name !== '')
      assert.equal(
        reviewed,
        REVIEWED.includes(language),
        'a machine translation is marked until it is reviewed',
      )
      assert.match(direction, /^(?:ltr|rtl)$/)
      assert.deepEqual(Intl.getCanonicalLocales(language), [language])
      assert.deepEqual(Intl.PluralRules.supportedLocalesOf(language), [language])
    })
  }

  it('are there in at least ten languages', () => {
    const languages = listLanguages()
    assert.ok(languages.length >= 10, languages.join(' '))
    for (const language of COMPLETE) assert.ok(languages.includes(language))
  })

  it('have types for every area, and signatures only for messages that are there', () => {
    const types = readFileSync(path.join(src, 'texts/text-types.ts'), 'utf8')
    const typed = [...types.matchAll(/ {2}readonly (\w+): typeof /g)].map(([, area]) => area)
    assert.deepEqual(typed, Object.keys(english))
    const unknown = (signatures: Signatures, messages: Messages, prefix: string): string[] =>
      Object.entries(signatures).flatMap(([key, signature]) => {
        const message = messages[key]
        if (message === undefined) return [prefix + key]
        if (typeof signature === 'string' || typeof message === 'string') return []
        return unknown(signature, message, `${prefix}${key}.`)
      })
    assert.deepEqual(unknown(messageArguments, english, ''), [])
  })

  it('have no key that the app does not use', () => {
    const files = globSync('**/*.{ts,tsx}', { cwd: src }).filter((file) => !file.startsWith('texts/'))
    const sources = files.map((file) => readFileSync(path.join(src, file), 'utf8'))
    const unused = Object.entries(english).flatMap(([area, messages]) => {
      // A file gets the texts of an area by the hook, or from a caller by their type.
      const using = sources.filter((source) => source.includes(`'${area}'`) || area === 'shell')
      const isUsed = (key: string) => using.some((source) => new RegExp(`[.{,'|]\\s*${key}\\b`).test(source))
      return Object.keys(messages)
        .filter((key) => !isUsed(key))
        .map((key) => `${area}.${key}`)
    })
    assert.deepEqual(unused, [])
  })

  it('have the numbers of the editor, and end as a sentence where English does', () => {
    const source = flatten(english)
    for (const language of listLanguages()) {
      const messages = flatten(readMessages(language))
      for (const [key, message] of source) {
        const translated = messages.get(key)
        if (translated === undefined) continue
        assert.equal(translated.split('$').length, message.split('$').length, `${language} ${key}`)
        if (/[^}]\.$/.test(message)) assert.match(translated, /[.。}]$/, `${language} ${key}`)
      }
    }
  })

  it('are written with typographic characters', () => {
    for (const language of listLanguages()) {
      // German has a space before the sign if a word was left out.
      const wrong = language === 'de' ? /\.\.\.|"/ : /\.\.\.|"|\s…/
      for (const [key, message] of flatten(readMessages(language))) {
        assert.doesNotMatch(message, wrong, `${language} ${key}`)
      }
    }
  })
})
