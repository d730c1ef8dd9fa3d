import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { type DetailTexts, detailLines } from '../../../web/src/admin/audit-details.ts'

const texts: DetailTexts = {
  names: {
    groupName: 'Group',
    permission: 'Permission',
    expires: 'Expires',
    to: 'Changed to',
    recipient: 'Shared with',
    quota: 'Quota',
  },
  yes: 'yes',
  no: 'no',
  values: { permission: { rw: 'Read and write' }, recipient: { everyone: 'Everyone' } },
}
const formats = { moment: (time: number | string) => `at ${time}`, size: (bytes: number) => `${bytes} bytes` }
const shown = (action: string, detail: Record<string, unknown>) =>
  detailLines({ action, detail }, texts, formats).map(({ name, value }) => `${name}: ${value}`)

describe('the details of an audit entry', () => {
  it('are words: names, permissions, times and sizes', () => {
    const share = { to: 'group', group: 3, groupName: 'Board', permission: 'rw', expiresAt: 7 }
    assert.deepEqual(shown('share-made', share), [
      'Group: Board',
      'Permission: Read and write',
      'Expires: at 7',
    ])
    assert.deepEqual(shown('link-made', { expires_at: 7, password: true }), [
      'Expires: at 7',
      'password: yes',
    ])
    assert.deepEqual(shown('account-changed', { quota: 5 }), ['Quota: 5 bytes'])
  })

  it('name everyone as the recipient of a share, and a new name as what it is', () => {
    assert.deepEqual(shown('share-made', { to: 'everyone' }), ['Shared with: Everyone'])
    assert.deepEqual(shown('library-renamed', { to: 'everyone' }), ['Changed to: everyone'])
  })

  it('leave out what is not set, and ids beside names', () => {
    assert.deepEqual(
      shown('link-made', { library: 'id', name: 'Notes', password: false, expires_at: null }),
      ['name: Notes'],
    )
    assert.deepEqual(shown('account-changed', { active: false }), ['active: no'])
  })

  it('show keys and values without a word as they are, also those of every object', () => {
    const detail = { newKey_name: 'constructor', permission: 'constructor', constructor: 'x', list: [1] }
    assert.deepEqual(shown('account-changed', detail), [
      'new key name: constructor',
      'Permission: constructor',
      'constructor: x',
      'list: [1]',
    ])
  })

  it('have the same words in every language', () => {
    const folder = path.join(import.meta.dirname, '../../../web/src/texts')
    const languages = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const keysIn = (language: string) => {
      const admin = JSON.parse(readFileSync(path.join(folder, language, 'admin.json'), 'utf8')) as {
        detailNames: object
        detailValues: object
      }
      return [Object.keys(admin.detailNames), Object.keys(admin.detailValues)]
    }
    assert.ok(languages.length > 10)
    for (const { name } of languages) assert.deepEqual(keysIn(name), keysIn('en'), name)
  })
})
