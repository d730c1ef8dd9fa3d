import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import { settings } from '../../src/config/index.ts'

it('lists every setting in docs/operation.md with its default and meaning', () => {
  const operation = readFileSync(path.join(import.meta.dirname, '../../docs/operation.md'), 'utf8')
  const listed = operation.split('\n').filter((line) => /^\| `CARREL_\w+` \|/.test(line))
  assert.deepEqual(
    listed,
    settings.map((setting) => `| \`${setting.env}\` | ${setting.default} | ${setting.meaning} |`),
  )
})
