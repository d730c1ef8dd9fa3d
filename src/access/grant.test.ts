import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type LibraryPath, ROOT } from '../objects/paths.ts'
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
  ['nothing comes of nothing', [], '/', undefined],
  ['a share with the user gives what it says', [grant('user', 'r')], '/', 'r'],
  ['a share with the user goes before groups', [grant('group', 'rw'), grant('user', 'r')], '/', 'r'],
  ['of groups the best counts', [grant('group', 'r'), grant('group', 'rw', '/', 2)], '/', 'rw'],
  ['groups go before everyone', [grant('everyone', 'rw'), grant('group', 'r')], '/', 'r'],
  ['everyone comes last', [grant('everyone', 'rw')], '/', 'rw'],
  ['a folder is not the library', [grant('user', 'rw', '/a')], '/', undefined],
  ['a folder has what is in it', [grant('user', 'rw', '/a')], '/a/b/c', 'rw'],
  ['a name that begins the same is another', [grant('user', 'rw', '/a')], '/ab', undefined],
  ['the nearest folder decides', [grant('user', 'rw'), grant('group', 'r', '/a')], '/a/b', 'r'],
  ['elsewhere the library decides', [grant('user', 'rw'), grant('group', 'r', '/a')], '/b', 'rw'],
  ['an administrator writes', [grant('user', 'admin')], '/', 'rw admin'],
  ['a group makes its administrator one', [grant('user', 'rw'), grant('group', 'admin')], '/', 'rw admin'],
  ['who only reads manages nothing', [grant('user', 'r'), grant('group', 'admin')], '/', 'r'],
  ['an administrator above is none below', [grant('user', 'admin'), grant('user', 'rw', '/a')], '/a', 'rw'],
]

for (const [says, grants, at, expected] of cases) {
  it(says, () => {
    const found = decide(grants, at as LibraryPath)
    const right = found && `${found.permission}${found.isAdmin ? ' admin' : ''}`
    assert.equal(right, expected)
    if (found !== undefined) assert.ok(grants.includes(found.by))
  })
}

it('a read-only library is for reading', () => {
  assert.equal(capped('rw', { status: 'read-only' }), 'r')
  assert.equal(capped('rw', { status: 'normal' }), 'rw')
  assert.equal(decide([], ROOT), undefined)
})
