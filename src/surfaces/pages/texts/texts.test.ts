import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { languages } from '../../../base/texts/index.ts'
import { textsFor } from './texts.ts'

const cases: readonly [sent: string | undefined, language: string][] = [
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT, en;q=0.5', 'de'],
  ['en;q=0.4, zh-CN;q=0.9', 'zh'],
  ['xx, zh;q=0.1', 'zh'],
  ['fr, pt-BR;q=0.9, zh;q=0.1', 'fr'],
  ['pt-PT', 'pt-BR'],
  ['uk-UA, en;q=0.5', 'uk'],
  ['ar-EG, en;q=0.5', 'ar'],
  ['de;q=0, sv', 'en'],
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

describe('the texts of the pages', () => {
  for (const language of languages) {
    it(`can be formatted in ${language}`, () => {
      const texts = textsFor({ headers: { 'accept-language': language } })
      assert.equal(texts.language, language)
      for (const count of [0, 1, 2, 5, 21, 1234]) {
        // Arabic has words for one and two things, and none for no time at all.
        const number = language === 'ar' && count < 3 ? /\p{L}/u : /\d/
        for (const format of [texts.bytes, texts.folders, texts.files, texts.busy, texts.tooManyTries]) {
          assert.match(format(count), number)
        }
      }
      assert.match(texts.pageOf(2, 3), /2.*3|3.*2/)
      assert.match(texts.packed(2, 3), /2.*3|3.*2/)
      for (const format of [texts.downloadOne, texts.uploadTo])
        assert.ok(format('{a} <b>').includes('{a} <b>'))
      const open = texts.sharedBy(true).flatMap((part) => ('argument' in part ? [part.argument] : []))
      assert.deepEqual(open.toSorted(), ['day', 'name'])
    })
  }
})
