import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type LibraryPath, ROOT } from '../../base/paths/paths.ts'
import { capped, decide, type Grant, type Grantee } from './grant.ts'

function grant(
  grantee: Grantee,
  right: 'r' | 'rw' | 'admin',
  path = '/',
  granteeKey = grantee === 'everyone' ? 0 : 1,
): Grant {
  const isAdmin = right === 'admin'
  const permission = right === 'r' ? 'r' : 'rw'
  return {
    grantee,
    granteeKey,
    permission,
    isAdmin,
    path: path as LibraryPath,
    subKey: path === '/' ? undefined : 1,
  }
}

const cases: [says: string, grants: Grant[], at: string, expected: string | undefined][] = [
  ['no grant gives no permission', [], '/', undefined],
  ['a share with the user gives its permission', [grant('user', 'r')], '/', 'r'],
  [
    'a share with the user takes precedence over groups',
    [grant('group', 'rw'), grant('user', 'r')],
    '/',
    'r',
  ],
  [
    'the best permission of several groups counts',
    [grant('group', 'r'), grant('group', 'rw', '/', 2)],
    '/',
    'rw',
  ],
  ['groups take precedence over everyone', [grant('everyone', 'rw'), grant('group', 'r')], '/', 'r'],
  ['a share with everyone counts last', [grant('everyone', 'rw')], '/', 'rw'],
  ['a share of a folder does not cover the library', [grant('user', 'rw', '/a')], '/', undefined],
  ['a share of a folder covers its descendants', [grant('user', 'rw', '/a')], '/a/b/c', 'rw'],
  [
    'a share of a folder does not cover a name with the same prefix',
    [grant('user', 'rw', '/a')],
    '/ab',
    undefined,
  ],
  ['the nearest folder decides', [grant('user', 'rw'), grant('group', 'r', '/a')], '/a/b', 'r'],
  ['outside of the folder the library decides', [grant('user', 'rw'), grant('group', 'r', '/a')], '/b', 'rw'],
  ['an administrator may write', [grant('user', 'admin')], '/', 'rw admin'],
  [
    'an administrator share of a group makes a writer an administrator',
    [grant('user', 'rw'), grant('group', 'admin')],
    '/',
    'rw admin',
  ],
  ['a reader is never an administrator', [grant('user', 'r'), grant('group', 'admin')], '/', 'r'],
  [
    'the nearest folder revokes administration, too',
    [grant('user', 'admin'), grant('user', 'rw', '/a')],
    '/a',
    'rw',
  ],
]

for (const [says, grants, at, expected] of cases) {
  it(says, () => {
    const found = decide(grants, at as LibraryPath)
    const right = found && `${found.permission}${found.isAdmin ? ' admin' : ''}`
    assert.equal(right, expected)
    if (found !== undefined) assert.ok(grants.includes(found.by))
  })
}

it('a read-only library reduces write permission to read', () => {
  assert.equal(capped('rw', { status: 'read-only' }), 'r')
  assert.equal(capped('rw', { status: 'normal' }), 'rw')
  assert.equal(decide([], ROOT), undefined)
})
