import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { apiFaults, limitTexts } from '../../src/surfaces/api/faults.ts'
import { errorCodeOf, translateError } from '../../web/src/ui/error-codes.ts'
import { loadCompiledTexts } from '../../web/texts-compiler/load.ts'

const en = await loadCompiledTexts('en')
const de = await loadCompiledTexts('de')
const zh = await loadCompiledTexts('zh')

/** Values for all fields of faults. */
const sample = { id: 'x', path: '/a', wanted: 'File', action: 'share', name: 'a', limit: 5, of: 'library' }
const more = {
  email: 'a@x',
  loginId: 'a',
  kind: 'share',
  token: 't',
  seconds: 5,
  reason: 'is empty',
  most: 5,
}

describe('errors of the server', () => {
  it('are all known by their message, and translated', () => {
    const cases = Object.entries(apiFaults).flatMap(([fault, answer]) => {
      const kinds = fault === 'limit-reached' ? Object.keys(limitTexts) : ['']
      return kinds.map((what) => [fault, what, answer] as const)
    })
    for (const [fault, what, answer] of cases) {
      const respond = answer as unknown as (fields: object) => readonly [number, string, ...unknown[]]
      const [status, message] = respond({
        ...sample,
        ...more,
        code: fault,
        what,
        source: '/a',
        destination: '/a/b',
        appName: 'a',
      })
      // The app has a text of its own for a full disk.
      if (status === 507) continue
      const code = errorCodeOf(message)
      assert.ok(code !== undefined, `${fault} ${what}: ${message}`)
      const said = [en, de, zh].map(({ common }) => common.errors[code])
      assert.equal(new Set(said).size, 3, code)
    }
  })

  it('keep the name that they contain', () => {
    const said = translateError('User $&@x not found.', en.common.errors)
    assert.equal(said, 'There is no account $&@x.')
  })

  it('that are not known have no code', () => {
    assert.equal(errorCodeOf('Something new'), undefined)
  })
})
