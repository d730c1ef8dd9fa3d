import { useState } from 'react'
import type { LibraryItem } from '../api/index.ts'
import { sectionsOf } from './library-sections.ts'

interface TreeSection {
  readonly key: string
  readonly title: string
  readonly libraries: readonly LibraryItem[]
}

interface Titles {
  readonly starred: string
  readonly own: string
  readonly people: string
  readonly everyone: string
}

/**
 * The sections of the side menu: the starred libraries, then the others as on the page of libraries. Each library is in one of them, also if it reaches
 * the user in several ways.
 */
export function treeSections(
  libraries: readonly LibraryItem[],
  titles: Titles,
  language: string,
): readonly TreeSection[] {
  const collator = new Intl.Collator(language, { numeric: true })
  const ordered = libraries.toSorted(
    (a, b) => rank(a) - rank(b) || collator.compare(a.repo_name, b.repo_name),
  )
  const seen = new Set<string>()
  const distinct = ordered.filter(({ repo_id }) => !seen.has(repo_id) && seen.add(repo_id))
  const starred = distinct.filter((library) => library.starred)
  const others = sectionsOf(
    distinct.filter((library) => !library.starred),
    titles,
  )
  return [
    ...(starred.length > 0 ? [{ key: 'starred', title: titles.starred, libraries: starred }] : []),
    ...others.map(({ key, title = titles.own, libraries: found }) => ({ key, title, libraries: found })),
  ]
}

/** A library that a user owns is shown as such, whoever else shares it. */
const rank = ({ type }: LibraryItem) => (type === 'mine' ? 0 : 1)

const KEY = 'carrel.tree.collapsed'

/** The collapsed sections, stored on this device. */
export function useCollapsed(): [ReadonlySet<string>, (key: string, isOpen: boolean) => void] {
  const [collapsed, setCollapsed] = useState(storedKeys)
  const toggle = (key: string, isOpen: boolean) => {
    const keys = new Set(collapsed)
    if (isOpen) keys.delete(key)
    else keys.add(key)
    localStorage.setItem(KEY, JSON.stringify([...keys]))
    setCollapsed(keys)
  }
  return [collapsed, toggle]
}

function storedKeys(): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return new Set(Array.isArray(stored) ? stored.filter((key) => typeof key === 'string') : [])
  } catch {
    return new Set()
  }
}
