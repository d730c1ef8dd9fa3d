import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityItem } from '../../../web/src/api/activity-types.ts'
import { mergeRecent, recentFiles } from '../../../web/src/libraries/recent-files.ts'

const item = (op_type: ActivityItem['op_type'], path: string, old_path?: string): ActivityItem => ({
  op_type,
  obj_type: 'file',
  repo_id: '1',
  repo_name: 'Plans',
  commit_id: '',
  path,
  name: path.slice(1),
  ...(old_path !== undefined && { old_path }),
  author_email: '',
  author_name: '',
  avatar_url: '',
  time: '',
})

describe('recent files', () => {
  it('are each listed once, without deleted and renamed ones', () => {
    const feed = [
      item('edit', '/a.txt'),
      item('delete', '/b.txt'),
      item('rename', '/d.txt', '/c.txt'),
      item('create', '/c.txt'),
      item('create', '/b.txt'),
      item('create', '/a.txt'),
      { ...item('create', '/folder'), obj_type: 'dir' as const },
    ]
    assert.deepEqual(
      recentFiles(feed).map(({ path }) => path),
      ['/a.txt', '/d.txt'],
    )
  })

  it('are those that were opened or changed, each by what was last', () => {
    const opened = (path: string, at: string, isDir = false) => ({
      libraryId: '1',
      libraryName: 'Plans',
      path,
      isDir,
      at,
    })
    const changed = (path: string, time: string) => ({ ...item('edit', path), time })
    const merged = mergeRecent(
      [
        opened('/b.txt', '2026-01-03T00:00:00.000Z'),
        opened('/a.txt', '2026-01-01T00:00:00.000Z'),
        opened('/folder', '2026-01-04T00:00:00.000Z', true),
        // Stored by an earlier version, without a time.
        opened('/old.txt', ''),
      ],
      [changed('/a.txt', '2026-01-02T00:00:00+00:00'), changed('/c.txt', '2026-01-02T01:00:00+02:00')],
    )
    assert.deepEqual(
      merged.map(({ path, act }) => [path, act]),
      [
        ['/b.txt', 'opened'],
        ['/a.txt', 'changed'],
        ['/c.txt', 'changed'],
      ],
    )
  })
})
