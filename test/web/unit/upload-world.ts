import assert from 'node:assert/strict'
import type { UploadScan } from '../../../web/src/uploads/dropped-files.ts'
import { Engine } from '../../../web/src/uploads/engine.ts'
import { freeName } from '../../../web/src/uploads/names.ts'
import type { Clock, Listed, Network, PostOptions } from '../../../web/src/uploads/network.ts'
import type { Upload } from '../../../web/src/uploads/queue.ts'
import type { Source } from '../../../web/src/uploads/sources.ts'
import type { StoredUpload, UploadStore, Visits } from '../../../web/src/uploads/upload-store.ts'

export const ACCOUNT = 'ann@example.org'
const TARGET = { libraryId: 'L', libraryName: 'Library', path: '/' }
const QUIET_MS = 600_000
/** The longest time until a response. */
const CALL_MS = 200

interface Timer {
  readonly at: number
  readonly order: number
  readonly act: () => void
}

/** A time that passes when the test says so. */
class World {
  now = 1_700_000_000_000
  readonly #timers = new Set<Timer>()
  #order = 0

  after(ms: number, act: () => void): () => void {
    this.#order += 1
    const timer = { at: this.now + ms, order: this.#order, act }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Runs everything that is due within some time. */
  async pass(ms: number, look: () => void): Promise<void> {
    const end = this.now + ms
    for (;;) {
      // All promises that are resolved by now.
      await new Promise((resolve) => setImmediate(resolve))
      look()
      let next: Timer | undefined
      for (const timer of this.#timers) {
        if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) {
          next = timer
        }
      }
      if (next === undefined || next.at > end) break
      this.#timers.delete(next)
      this.now = Math.max(this.now, next.at)
      next.act()
    }
    this.now = end
  }
}

interface ServerFile {
  readonly content: string
  readonly size: number
  readonly mtime: number
  readonly modifier: string
  readonly storedAt: number
}

function failed(status: number, message = ''): Error {
  return Object.assign(new Error(message), { status })
}

/** Pages of one browser, a server, and what goes wrong between them. */
export class Uploads {
  readonly world = new World()
  readonly #random: () => number
  readonly pages = new Set<Page>()
  /** Contents of all dropped files, by the names they had. */
  readonly dropped = new Map<string, File>()
  /** Names of files that a tray counted. */
  readonly counted = new Set<string>()
  /** Files of the server by path. */
  readonly stored = new Map<string, ServerFile>()
  readonly partial = new Map<string, number>()
  readonly records = new Map<string, StoredUpload>()
  readonly sources = new Map<string, Source>()
  readonly claimed = new Set<string>()
  /** Visits that go on, with those who wait for their end. */
  readonly visits = new Map<string, (() => void)[]>()
  isCut = false
  /** How many of the next responses get lost. */
  lost = 0
  isFull = false
  #storeFree = 0
  readonly #lost = new WeakSet<Upload>()

  constructor(random: () => number) {
    this.#random = random
  }

  within(ms: number): number {
    return Math.floor(this.#random() * ms)
  }

  open(): Page {
    const page = new Page(this)
    this.pages.add(page)
    void page.engine.restore(ACCOUNT)
    return page
  }

  drop(page: Page, names: readonly string[], size: number): void {
    const files = names.map((name) => fakeFile(name, size))
    for (const [index, name] of names.entries()) this.dropped.set(name, files[index]!)
    const tops = [...new Set(names.map((name) => name.split('/')[0] ?? ''))]
    const { world } = this
    const within = () => this.within(40)
    async function* batches(): UploadScan['batches'] {
      for (let start = 0; start < names.length; start += 20) {
        await new Promise<void>((resolve) => void world.after(within(), resolve))
        const picked = files.slice(start, start + 20)
        yield {
          files: picked.map((file, index) => ({ file, relativePath: names[start + index] ?? '' })),
          emptyFolders: [],
        }
      }
    }
    void page.engine.add(TARGET, { tops, batches: batches() as AsyncIterable<never> })
  }

  pass(ms: number): Promise<void> {
    return this.world.pass(ms, () => this.look())
  }

  /** What no user may ever see. */
  look(): void {
    const trays = new Set<string>()
    for (const { engine } of this.pages) {
      const { counts, all } = engine.queue.totals
      let sum = 0
      for (const count of Object.values(counts)) sum += count
      assert.equal(sum, all)
      for (const upload of engine.queue.uploads) {
        const wanted = wantedName(upload)
        this.counted.add(wanted)
        trays.add(wanted)
        const path = `/${upload.folder === '' ? '' : `${upload.folder}/`}${upload.name}`
        if (upload.state === 'lost') this.#checkLost(upload, wanted)
        if (upload.state !== 'done') continue
        assert.equal(this.stored.get(path)?.content, wanted, `the tray says that ${path} is stored`)
      }
    }
    const kept = new Set([...this.records.values()].map(wantedName))
    const there = new Set([...this.stored.values()].map(({ content }) => content))
    for (const name of this.counted) {
      assert.ok(trays.has(name) || kept.has(name) || there.has(name), `${name} is gone`)
    }
  }

  /** No file is asked for again that was stored when the server was asked. */
  #checkLost(upload: Upload, content: string): void {
    if (this.#lost.has(upload)) return
    this.#lost.add(upload)
    const [there] = [...this.stored.values()].filter((file) => file.content === content)
    assert.ok(
      there === undefined || there.storedAt > this.world.now - CALL_MS,
      `${content} is asked for again`,
    )
  }

  /** Everything is well again. One page ends what is left, with the help of the user. */
  async settle(): Promise<Page> {
    this.isCut = false
    this.lost = 0
    this.isFull = false
    const [first, ...others] = this.pages
    for (const page of others) page.kill()
    const page = first ?? this.open()
    void page.engine.restore(ACCOUNT)
    await this.pass(QUIET_MS)
    const { engine } = page
    for (let round = 0; round < 3; round += 1) {
      engine.question?.answer('keep-both')
      engine.resumeAll('paused')
      engine.resumeAll('failed')
      engine.rechoose([...this.dropped].map(([relativePath, file]) => ({ relativePath, file })))
      await this.pass(QUIET_MS)
    }
    return page
  }

  /** Applies a change of the browser's store later, in order. A page that is gone gets no answer. */
  write<T>(page: Page, act: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.#storeFree = Math.max(this.#storeFree, this.world.now + this.within(30))
      const survives = this.#random() < 0.5
      this.world.after(this.#storeFree - this.world.now, () => {
        if (!page.isAlive && !survives) return
        const result = act()
        if (page.isAlive) resolve(result)
      })
    })
  }

  /** An answer of the server, unless the page or the connection is gone by then. */
  call<T>(page: Page, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.world.after(this.within(CALL_MS), () => {
        if (!page.isAlive) return
        try {
          if (this.isCut) throw failed(0)
          resolve(act())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  /** A request with a body. Once it is sent, the server goes on by itself. */
  post<T>(page: Page, bytes: number, options: PostOptions, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (give: () => void) => {
        if (page.isAlive) give()
      }
      let isOver = false
      const lose = () => {
        isOver = true
        answer(() => reject(failed(0)))
      }
      if (options.signal.aborted) return lose()
      options.signal.addEventListener('abort', lose)
      this.world.after(this.within(400), () => {
        if (!page.isAlive || isOver) return
        if (this.isCut) return lose()
        options.onProgress(bytes)
        options.onSent()
        this.world.after(this.within(600), () => {
          let give: () => void
          try {
            const result = act()
            give = () => resolve(result)
          } catch (error) {
            give = () => reject(error)
          }
          this.lost -= 1
          if (this.lost >= 0 || this.isCut) return lose()
          this.world.after(this.within(200), () => (isOver ? undefined : answer(give)))
        })
      })
    })
  }

  /** The server stores a file, as with `keep_same`. */
  put(upload: Upload, file: File): string {
    if (this.isFull) throw failed(443, 'Out of quota.')
    const folder = `/${upload.folder === '' ? '' : `${upload.folder}/`}`
    const entry = {
      content: contentOf(file),
      size: upload.size,
      mtime: Math.floor(upload.modified / 1000),
      modifier: ACCOUNT,
      storedAt: this.world.now,
    }
    const isSame = (there: ServerFile) =>
      there.content === entry.content && there.mtime === entry.mtime && there.modifier === entry.modifier
    const isTaken = (name: string) => {
      const there = this.stored.get(folder + name)
      return there !== undefined && !isSame(there)
    }
    const name = upload.replace ? upload.name : freeName(upload.name, isTaken)
    if (upload.replace || !this.stored.has(folder + name)) this.stored.set(folder + name, entry)
    return name
  }

  /** Somebody else takes the name of a file. */
  putForeign(name: string): void {
    if (this.stored.has(`/${name}`)) return
    this.stored.set(`/${name}`, {
      content: '',
      size: 1,
      mtime: 1,
      modifier: 'bob@example.org',
      storedAt: 0,
    })
  }

  list(folder: string): readonly Listed[] | undefined {
    const start = folder === '/' ? '/' : `${folder}/`
    const found = new Map<string, Listed>()
    for (const [path, { size, mtime, modifier }] of this.stored) {
      if (!path.startsWith(start)) continue
      const [name = '', ...below] = path.slice(start.length).split('/')
      if (below.length > 0) found.set(name, { type: 'dir', name, mtime: 0 })
      else found.set(name, { type: 'file', name, mtime, size, modifier_email: modifier })
    }
    return found.size === 0 && folder !== '/' ? undefined : [...found.values()]
  }
}

/** A page with an engine. */
export class Page {
  readonly #all: Uploads
  readonly engine: Engine
  readonly #ends: (() => void)[] = []
  #listener: (owner: string) => void = () => undefined
  isAlive = true

  constructor(all: Uploads) {
    this.#all = all
    this.engine = new Engine({
      store: this.#store(),
      visits: this.#visits(),
      network: this.#network(),
      clock: this.#clock(),
      onFound: () => undefined,
    })
  }

  /** The page ends without notice. */
  kill(): void {
    this.isAlive = false
    this.#all.pages.delete(this)
    for (const end of this.#ends.splice(0)) end()
  }

  #clock(): Clock {
    const { world } = this.#all
    return {
      now: () => world.now,
      after: (ms, act) => world.after(ms, () => (this.isAlive ? act() : undefined)),
    }
  }

  #visits(): Visits {
    const { visits, world } = this.#all
    const within = (ms: number) => this.#all.within(ms)
    return {
      begin: (owner) => {
        visits.set(owner, [])
        const end = () => {
          for (const act of visits.get(owner) ?? []) world.after(within(50), act)
          visits.delete(owner)
        }
        this.#ends.push(end)
        return Promise.resolve(end)
      },
      whenEnded: (owner, act) => {
        const alive = () => (this.isAlive ? act() : undefined)
        const waiting = visits.get(owner)
        if (waiting === undefined) world.after(within(50), alive)
        else waiting.push(alive)
      },
      others: () => Promise.resolve([...visits.keys()]),
      announce: (owner) => {
        for (const page of owner === undefined ? [] : this.#all.pages) {
          if (page === this) continue
          world.after(within(50), () => (page.isAlive ? page.#listener(owner ?? '') : undefined))
        }
      },
      onAnnounced: (listener) => {
        this.#listener = listener
      },
    }
  }

  #store(): UploadStore {
    const all = this.#all
    const { records, sources, claimed } = all
    const unlessClaimed = (owner: string, act: () => void) =>
      all.write(this, () => {
        if (claimed.has(owner)) return false
        act()
        return true
      })
    return {
      add: (owner, recorded) =>
        unlessClaimed(owner, () => {
          for (const { record, source } of recorded) {
            records.set(record.key, record)
            sources.set(record.key, source)
          }
        }),
      write: (owner, changed, removed) =>
        unlessClaimed(owner, () => {
          for (const record of changed) {
            records.set(record.key, record)
            if (record.state === 'done') sources.delete(record.key)
          }
          for (const key of removed) {
            records.delete(key)
            sources.delete(key)
          }
        }),
      claim: (account, from, to) =>
        all.write(this, () => {
          const found = [...records.values()].filter((one) => one.account === account && one.owner === from)
          if (found.length > 0) claimed.add(from)
          for (const one of found) records.set(one.key, { ...one, owner: to })
          return found.map((one) => ({ ...one, owner: to }))
        }),
      records: () => all.write(this, () => [...records.values()]),
      source: (key) => all.write(this, () => sources.get(key)),
      addFile: (key, file) =>
        all.write(this, () => {
          if (records.has(key)) sources.set(key, { file })
        }),
      expire: () => all.write(this, () => undefined),
    }
  }

  #network(): Network {
    const all = this.#all
    return {
      list: (_library, path) => all.call(this, () => all.list(path)),
      listBelow: () => all.call(this, () => []),
      storedBytes: (_library, folder, name) =>
        all.call(this, () => all.partial.get(`${folder}/${name}`) ?? 0),
      postFiles: (uploads, files, options) => {
        const sent = uploads.map((upload) => ({ ...upload }))
        return all.post(this, 1, options, () => {
          // All or none.
          if (all.isFull) throw failed(443, 'Out of quota.')
          return sent.map((upload, index) => all.put(upload, files[index] as File))
        })
      },
      postChunk: (upload, bytes, { end }, options) => {
        const sent = { ...upload }
        return all.post(this, bytes.size, options, () => {
          const key = `${sent.folder === '' ? '/' : `/${sent.folder}`}/${sent.name}`
          if (end < sent.size) {
            all.partial.set(key, end)
            return undefined
          }
          const name = all.put(sent, bytes as File)
          all.partial.delete(key)
          return name
        })
      },
      makeFolders: () => all.call(this, () => []),
      prefetch: () => undefined,
      renew: () => undefined,
      isReachable: () => all.call(this, () => true).catch(() => false),
      isOnline: true,
      onOnline: () => undefined,
    }
  }
}

const contents = new WeakMap<object, string>()
const contentOf = (file: object) => contents.get(file) ?? ''

/** As much of a file as uploads use. Its content is its name. */
function fakeFile(name: string, size: number): File {
  const file = {
    name: name.split('/').at(-1) ?? '',
    size,
    lastModified: 1_600_000_000_000,
    slice(start: number, end: number) {
      const part = { size: end - start, arrayBuffer: () => Promise.resolve(new ArrayBuffer(0)) }
      contents.set(part, name)
      return part
    },
  }
  contents.set(file, name)
  return file as unknown as File
}

/** Dropped names are unique, and numbers that the server gave are not part of them. */
function wantedName({ folder, name }: Upload): string {
  const own = name.replace(/ \(\d+\)(?=\.)/, '')
  return folder === '' ? own : `${folder}/${own}`
}
