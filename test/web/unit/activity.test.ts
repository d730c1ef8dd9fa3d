import './browser-globals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NoticeType } from '../../../src/derived/activity/notices.ts'
import { groupByDay } from '../../../web/src/activity/activity-groups.ts'
import { parseNotification } from '../../../web/src/activity/parse-notification.ts'
import type { ActivityItem } from '../../../web/src/api/activity-types.ts'
import { loadCompiledTexts } from '../../../web/texts-compiler/load.ts'
import { listLanguages } from '../../../web/texts-compiler/messages.ts'

const id = '5a1e0d2c-77aa-4c58-8f2b-90b1c0a4d9f1'
const library = { repo_id: id, repo_name: 'Plans' }
const share = { ...library, path: '/', share_from_user_email: 'a@example.org', share_from_user_name: 'Ann' }
const watched = { ...library, op_user_name: 'Ann', op_user_email: 'a@example.org', obj_type: 'file' }

/** Examples of each type the server sends, and the page each links to. */
const all: Record<NoticeType, readonly [detail: Record<string, unknown>, to: string | undefined][]> = {
  add_user_to_group: [[{ group_id: 7, group_name: 'G', group_staff_name: 'Ann' }, '/groups/7']],
  credential_added: [
    [{ kind: 'token', name: 'script', address: '192.0.2.1' }, '/account/tokens'],
    [{ kind: 'device', name: 'backup', address: '192.0.2.1' }, '/account/tokens'],
    [{ kind: 'webdav', name: '', address: '192.0.2.1' }, '/account/webdav'],
    [{ ...library, kind: 'library', name: 'app', address: '192.0.2.1' }, undefined],
    [{ kind: 'contact', name: 'ann@example.net', address: '192.0.2.1' }, '/account'],
  ],
  deleted_files: [[{ ...library, op_user_name: 'Ann', count: 150 }, `/trash/${id}`]],
  file_comment: [
    [
      { ...library, file_path: '/a/b.txt', file_name: 'b.txt', author_name: 'Ann', mentioned: false },
      `/view/${id}?p=/a/b.txt`,
    ],
    [
      { ...library, file_path: '/a/b.txt', file_name: 'b.txt', author_name: 'Ann', mentioned: true },
      `/view/${id}?p=/a/b.txt`,
    ],
  ],
  file_uploaded: [
    [
      { ...library, file_path: '/in/a b.txt', file_name: 'a b.txt', folder_path: '/in', folder_name: 'in' },
      `/view/${id}?p=/in/a+b.txt`,
    ],
    [
      {
        ...library,
        file_path: '/in/c.txt',
        file_name: 'c.txt',
        folder_path: '/in',
        folder_name: 'in',
        visitor_name: 'Ann',
        visitor_message: 'Hello',
      },
      `/view/${id}?p=/in/c.txt`,
    ],
  ],
  folder_uploaded: [
    [
      { ...library, folder_path: '/in/x', folder_name: 'x', parent_dir_path: '/in', parent_dir_name: 'in' },
      `/library/${id}?p=/in/x`,
    ],
  ],
  repo_monitor: [
    [{ ...watched, op_type: 'create', obj_path_list: ['/a/b.txt'] }, `/view/${id}?p=/a/b.txt`],
    [{ ...watched, op_type: 'delete', obj_path_list: ['/a/b.txt'] }, `/library/${id}`],
    [{ ...watched, op_type: 'edit', obj_path_list: ['/a/b.txt', '/a/c.txt'] }, `/library/${id}?p=/a`],
    [{ ...watched, op_type: 'edit', obj_path_list: 'nonsense' }, `/library/${id}`],
  ],
  repo_share: [[{ ...share, permission: 'rw' }, `/library/${id}`]],
  repo_share_perm_change: [[{ ...share, permission: 'r' }, `/library/${id}`]],
  repo_share_perm_delete: [[share, undefined]],
  repo_share_to_group: [[{ ...share, permission: 'r', group_id: 7, group_name: 'G' }, `/library/${id}`]],
  repo_transfer: [[{ ...library, transfer_from_user_name: 'Ann' }, `/library/${id}`]],
}

describe('a notification', () => {
  it('has a sentence with all placeholders filled and a link, for each type and language', async () => {
    const everyLanguage = await Promise.all(listLanguages().map(loadCompiledTexts))
    for (const [type, examples] of Object.entries(all)) {
      for (const [detail, to] of examples) {
        const notice = parseNotification({ id: 1, type, detail, time: '', seen: false })
        assert.notEqual(notice.sentence, 'other', type)
        assert.equal(notice.to, to, type)
        for (const { activity: texts } of everyLanguage) {
          const gaps = [...texts.sentences[notice.sentence](5).matchAll(/\{(\w+)\}/g)].map(
            ([, name = '']) => name,
          )
          for (const gap of gaps) assert.ok(notice.names[gap], `${type}: ${gap}`)
        }
      }
    }
  })

  it('of an unknown type is shown too, whatever its detail is', () => {
    const notice = parseNotification({
      id: 1,
      type: 'new_type',
      detail: { repo_id: {}, x: [1] },
      time: '',
      seen: false,
    })
    assert.deepEqual([notice.sentence, notice.names['what'], notice.to], ['other', 'new_type', undefined])
  })
})

describe('the activity feed by days', () => {
  const item = (more: Partial<ActivityItem>): ActivityItem => ({
    op_type: 'create',
    obj_type: 'file',
    repo_id: 'r',
    repo_name: 'R',
    commit_id: 'c',
    path: '/a',
    name: 'a',
    author_email: 'a@example.org',
    author_name: 'A',
    avatar_url: '',
    time: '2026-11-15T12:00:00Z',
    ...more,
  })

  it('counts a file that was saved six times as one', () => {
    const saves = Array.from({ length: 6 }, (_, second) =>
      item({ op_type: 'edit', path: '/notes.md', time: `2026-11-15T12:00:0${6 - second}Z` }),
    )
    const [day] = groupByDay([...saves, item({ op_type: 'edit', path: '/other.md' })])
    assert.deepEqual(
      day?.groups.map(({ items }) => items.map(({ path }) => path)),
      [['/notes.md', '/other.md']],
    )
  })

  it('groups equal operations of one person that follow each other within five minutes', () => {
    const days = groupByDay([
      item({ path: '/3' }),
      item({ path: '/2', time: '2026-11-15T11:56:00Z' }),
      item({ path: '/1', time: '2026-11-15T11:52:00Z' }),
      item({ path: '/0', time: '2026-11-15T11:46:00Z' }),
      item({ author_email: 'b@example.org', time: '2026-11-15T11:45:00Z' }),
      item({ time: '2026-11-13T12:00:00Z' }),
    ])
    assert.deepEqual(
      days.map(({ groups }) => groups.map(({ items }) => items.length)),
      [[3, 1, 1], [1]],
    )
  })

  it('does not split a bulk upload because somebody else saves a file meanwhile', () => {
    const rows = Array.from({ length: 1000 }, (_, n) => item({ path: `/2026/${n % 2}/${n}.jpg` }))
    const save = item({ op_type: 'edit', author_email: 'b@example.org', path: '/notes.md' })
    const [day] = groupByDay([...rows.slice(0, 400), save, ...rows.slice(400)])
    assert.deepEqual(
      day?.groups.map(({ count, folder }) => [count, folder]),
      [
        [1000, '/2026'],
        [1, '/'],
      ],
    )
  })

  it('counts the changes of a large commit that the feed does not list', () => {
    const [day] = groupByDay([item({ path: '/1' }), item({ path: '/2', unlisted: 4998 })])
    assert.deepEqual(
      day?.groups.map(({ count, items }) => [count, items.length]),
      [[5000, 2]],
    )
  })
})
