import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textsFor } from './texts.ts'

const cases: readonly [sent: string | undefined, language: string][] = [
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT, en;q=0.5', 'de'],
  ['en;q=0.4, zh-CN;q=0.9', 'zh'],
  ['fr, pt-BR;q=0.9, zh;q=0.1', 'zh'],
  ['de;q=0, fr', 'en'],
  ['*', 'en'],
  ['; q=, ,;;q=x, DE', 'de'],
]

describe('the language of a page', () => {
  for (const [sent, language] of cases) {
    it(`is ${language} for ${JSON.stringify(sent)}`, () => {
      const headers = sent === undefined ? {} : { 'accept-language': sent }
      assert.equal(textsFor({ headers }).language, language)
    })
  }
})
