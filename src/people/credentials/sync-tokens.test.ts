import assert from 'node:assert/strict'
import { it } from 'node:test'
import { byAnn, onEachDatabase } from '../../../test/support/identity.ts'

await onEachDatabase('SyncTokens', (open) => {
  it('are valid for one library and one account, and new on each call', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const library = await identity.addLibrary(ann)
    const [first, second] = [
      await identity.syncTokens.issue(library, ann),
      await identity.syncTokens.issue(library, ann),
    ]
    assert.match(first, /^[0-9a-f]{40}$/)
    assert.notEqual(first, second)
    const origin = { accountKey: ann.key, epoch: 0, apiTokenKey: undefined, scopedTokenKey: undefined }
    const grant = { libraryKey: library.key, libraryEpoch: 0, subKey: undefined, origin }
    assert.deepEqual(await identity.syncTokens.authenticate(first), grant)
    assert.deepEqual(await identity.syncTokens.authenticate(second), grant)
    for (const other of ['', '0'.repeat(40), first.toUpperCase(), '\0']) {
      assert.equal(await identity.syncTokens.authenticate(other), undefined)
    }
  })

  it('are no API tokens, nor the other way round', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const sync = await identity.syncTokens.issue(await identity.addLibrary(ann), ann)
    assert.deepEqual(await identity.apiTokens.authenticate(sync), { reason: 'unknown' })
    assert.equal(
      await identity.syncTokens.authenticate(await identity.apiTokens.issue(ann, undefined)),
      undefined,
    )
  })

  it("are issued in the caller's transaction, and not if that fails", async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const library = await identity.addLibrary(ann)
    const issued: string[] = []
    const broken = identity.db.write(async (tx) => {
      issued.push(await identity.syncTokens.issueIn(tx, library, ann))
      throw new Error('no')
    })
    await assert.rejects(broken, /no/)
    assert.equal(await identity.syncTokens.authenticate(issued[0] ?? ''), undefined)
  })

  it('are revoked by library, by account, and by both', async () => {
    await using identity = await open()
    const { syncTokens } = identity
    const [ann, bob] = [await identity.signUp('ann'), await identity.signUp('bob')]
    const [maps, notes] = [await identity.addLibrary(ann), await identity.addLibrary(ann)]
    const tokens = {
      annMaps: await syncTokens.issue(maps, ann),
      annNotes: await syncTokens.issue(notes, ann),
      bobMaps: await syncTokens.issue(maps, bob),
      bobNotes: await syncTokens.issue(notes, bob),
    }
    const opening = async () => {
      const left = []
      for (const [name, token] of Object.entries(tokens))
        if (await syncTokens.authenticate(token)) left.push(name)
      return left
    }
    await identity.db.write((tx) => syncTokens.revokeForLibrary(tx, maps.key, ann.key))
    assert.deepEqual(await opening(), ['annNotes', 'bobMaps', 'bobNotes'])
    await identity.db.write((tx) => syncTokens.revokeForLibrary(tx, maps.key))
    assert.deepEqual(await opening(), ['annNotes', 'bobNotes'])
  })

  it('have the origin they were derived from', async () => {
    await using identity = await open()
    const { apiTokens, syncTokens } = identity
    const ann = await identity.signUp('ann')
    const signedIn = await apiTokens.authenticate(await apiTokens.issue(ann, undefined))
    const holder = 'ok' in signedIn ? signedIn.ok : assert.fail()
    const token = await syncTokens.issue(await identity.addLibrary(ann), holder)
    const grant = await syncTokens.authenticate(token)
    assert.deepEqual(grant?.origin, {
      accountKey: ann.key,
      epoch: 0,
      apiTokenKey: holder.apiTokenKey,
      scopedTokenKey: undefined,
    })
    assert.equal(await apiTokens.revokeSession(ann, holder.apiTokenKey ?? 0, byAnn), true)
    assert.equal(await syncTokens.authenticate(token), undefined)
  })
})
