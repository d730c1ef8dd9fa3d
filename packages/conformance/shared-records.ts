import assert from 'node:assert/strict'
import { bodyOf, type Stage } from './stage.ts'
import type { Case } from './statement.ts'

type Entry = Record<string, unknown>

/** The entry, in the user's list, of a library that the other account shared with the user for reading. */
export async function sharedEntry({ user, other }: Stage): Promise<Entry> {
  const id = await other.createLibrary('Theirs')
  const form = { share_type: 'user', username: user.email, permission: 'r' }
  bodyOf(await other.put(`/api2/repos/${id}/dir/shared_items/`, { query: { p: '/' }, form }))
  const list: Entry[] = bodyOf(await user.get('/api2/repos/', { type: 'shared' }))
  return list.find((entry) => entry['id'] === id) ?? assert.fail('what is shared is not listed')
}

const field = (name: string, statement: string, check: (entry: Entry) => void, note?: string): Case => ({
  id: `2.1/shared.${name}`,
  statement,
  ...(note !== undefined && { note }),
  run: async (stage) => check(await sharedEntry(stage)),
})

/** Additional fields of shared libraries. */
export const sharedFieldCases: Case[] = [
  field('type', '`type` of a library shared with the caller is `srepo`', (entry) =>
    assert.equal(entry['type'], 'srepo'),
  ),
  field('permission', '`permission` of a shared library may be `r`', (entry) =>
    assert.equal(entry['permission'], 'r'),
  ),
  field('owner_nickname', '`owner_nickname` of a shared library is a string', (entry) =>
    assert.equal(typeof entry['owner_nickname'], 'string'),
  ),
  field('share_type', '`share_type` of a shared library is a string, `personal` among others', (entry) =>
    assert.equal(entry['share_type'], 'personal'),
  ),
  field(
    'group_name',
    '`group_name` of a shared library is a string',
    (entry) => assert.equal(typeof entry['group_name'], 'string'),
    'Empty unless a group owns the library, which none can here.',
  ),
  field('is_admin', '`is_admin` of a shared library is a boolean', (entry) =>
    assert.equal(typeof entry['is_admin'], 'boolean'),
  ),
]

/** The storage location of a library is shown only if there is a choice. */
export const storeCases: Case[] = ['storage_id', 'storage_name'].map((name) => ({
  id: `2.1/${name}`,
  statement: `\`${name}\` of an owned library is a string, where there are several stores`,
  note: 'Carrel has one store, so no entry has it.',
  async run(stage) {
    const id = await stage.library()
    const list: Entry[] = bodyOf(await stage.user.get('/api2/repos/', { type: 'mine' }))
    const entry = list.find((one) => one['id'] === id)
    assert.ok(entry !== undefined, 'the library is not listed')
    if (stage.checksNotes) assert.ok(!(name in entry))
    else if (name in entry) assert.equal(typeof entry[name], 'string')
  },
}))
