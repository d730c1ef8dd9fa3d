import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import { settings } from '../../src/base/config/index.ts'

it('lists every setting in docs/settings.md with its default and meaning', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/settings.md'), 'utf8')
  const listed = page.split('\n').filter((line) => /^\| `CARREL_\w+` \|/.test(line))
  assert.deepEqual(
    listed,
    settings.map((setting) => `| \`${setting.env}\` | ${setting.default} | ${setting.meaning} |`),
  )
})
