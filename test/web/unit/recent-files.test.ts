import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityItem } from '../../../web/src/api/activity-types.ts'
import { recentFiles } from '../../../web/src/libraries/recent-files.ts'

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
})
