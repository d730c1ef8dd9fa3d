/** The content of a file, or the entries of a folder. Names are unique across files and folders. */
export type Node = { readonly kind: 'file'; readonly content: string } | Folder
export interface Folder {
  readonly kind: 'dir'
  readonly entries: Map<string, Node>
}

/** The outcome of an operation of the model: the expected response of the server. */
export type Outcome = 'done' | 'not-found' | 'into-itself'

/**
 * A library as plain values, without any of the server's code: a second, simplest implementation of the
 * expected behaviour.
 */
export class LibraryModel {
  readonly root: Folder = folder()

  /** Creates an empty file or a folder; a taken name gets ` (n)`. */
  add(parent: string, name: string, node: Node): Outcome {
    const into = this.folderAt(parent)
    if (into === undefined) return 'not-found'
    into.entries.set(freeName(into, name), node)
    return 'done'
  }

  /** Uploads a file; with `replace` it replaces a file of that name. */
  upload(parent: string, name: string, content: string, replace: boolean): Outcome {
    const into = this.folderAt(parent)
    if (into === undefined) return 'not-found'
    const taken = into.entries.get(name)
    const stored = replace && taken?.kind === 'file' ? name : freeName(into, name)
    into.entries.set(stored, { kind: 'file', content })
    return 'done'
  }

  update(path: string, content: string): Outcome {
    const { parent, name } = split(path)
    const into = this.folderAt(parent)
    if (into?.entries.get(name)?.kind !== 'file') return 'not-found'
    into.entries.set(name, { kind: 'file', content })
    return 'done'
  }

  rename(path: string, newName: string): Outcome {
    const { parent, name } = split(path)
    const into = this.folderAt(parent)
    const node = into?.entries.get(name)
    if (into === undefined || node === undefined) return 'not-found'
    if (name === newName) return 'done'
    const free = freeName(into, newName)
    into.entries.delete(name)
    into.entries.set(free, node)
    return 'done'
  }

  remove(path: string): Outcome {
    const { parent, name } = split(path)
    return this.folderAt(parent)?.entries.delete(name) === true ? 'done' : 'not-found'
  }

  /** Moves entries of one folder into another; into the same folder it does nothing. */
  move(parent: string, names: readonly string[], target: string): Outcome {
    const refused = this.#refuse(parent, names, target)
    if (refused !== undefined) return refused
    if (parent === target) return 'done'
    const from = this.folderAt(parent)
    const into = this.folderAt(target)
    const taken = names.map((name) => from?.entries.get(name))
    for (const name of names) from?.entries.delete(name)
    for (const [index, node] of taken.entries()) {
      if (into !== undefined && node !== undefined) into.entries.set(freeName(into, names[index] ?? ''), node)
    }
    return 'done'
  }

  copy(parent: string, names: readonly string[], target: string): Outcome {
    const refused = this.#refuse(parent, names, target)
    if (refused !== undefined) return refused
    const from = this.folderAt(parent)
    const into = this.folderAt(target)
    const taken = names.map((name) => from?.entries.get(name))
    for (const [index, node] of taken.entries()) {
      if (into !== undefined && node !== undefined) {
        into.entries.set(freeName(into, names[index] ?? ''), clone(node))
      }
    }
    return 'done'
  }

  folderAt(path: string): Folder | undefined {
    const node = this.at(path)
    return node?.kind === 'dir' ? node : undefined
  }

  at(path: string): Node | undefined {
    let node: Node | undefined = this.root
    for (const name of path.split('/').filter((part) => part !== '')) {
      node = node?.kind === 'dir' ? node.entries.get(name) : undefined
    }
    return node
  }

  /** Every path with its content: that of a file, null for a folder. */
  paths(): Map<string, string | null> {
    const all = new Map<string, string | null>()
    const walk = (at: string, { entries }: Folder) => {
      for (const [name, node] of entries) {
        all.set(`${at}/${name}`, node.kind === 'file' ? node.content : null)
        if (node.kind === 'dir') walk(`${at}/${name}`, node)
      }
    }
    walk('', this.root)
    return all
  }

  #refuse(parent: string, names: readonly string[], target: string): Outcome | undefined {
    const from = this.folderAt(parent)
    if (from === undefined || this.folderAt(target) === undefined) return 'not-found'
    if (names.some((name) => !from.entries.has(name))) return 'not-found'
    const inside = names.some((name) => `${target}/`.startsWith(`${parent === '/' ? '' : parent}/${name}/`))
    return inside ? 'into-itself' : undefined
  }
}

export function folder(): Folder {
  return { kind: 'dir', entries: new Map() }
}

function clone(node: Node): Node {
  if (node.kind === 'file') return node
  return { kind: 'dir', entries: new Map(Array.from(node.entries, ([name, below]) => [name, clone(below)])) }
}

/** The first free of `a.txt`, `a (1).txt`, `a (2).txt` … A leading dot is part of the name. */
function freeName({ entries }: Folder, wanted: string): string {
  const dot = wanted.lastIndexOf('.')
  const [base, extension] = dot > 0 ? [wanted.slice(0, dot), wanted.slice(dot)] : [wanted, '']
  let name = wanted
  for (let n = 1; entries.has(name); n++) name = `${base} (${n})${extension}`
  return name
}

function split(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf('/')
  return { parent: path.slice(0, slash) || '/', name: path.slice(slash + 1) }
}
