import { useState } from 'react'
import type { LibraryItem } from '../api/index.ts'

export const columns = ['name', 'size', 'modified'] as const
export type Column = (typeof columns)[number]

export interface Order {
  readonly column: Column
  readonly down: boolean
}

const KEY = 'carrel.libraries.order'
const newestFirst: Order = { column: 'modified', down: true }

/** The sort order of the list, stored in the browser. */
export function useOrder(): [Order, (order: Order) => void] {
  const [order, setOrder] = useState(remembered)
  return [
    order,
    (next) => {
      localStorage.setItem(KEY, textOf(next))
      setOrder(next)
    },
  ]
}

/** The order after a click on a column header: names start ascending, sizes and times descending. */
export function orderAfter(order: Order, column: Column): Order {
  return order.column === column ? { column, down: !order.down } : { column, down: column !== 'name' }
}

export const textOf = ({ column, down }: Order) => `${column} ${down ? 'down' : 'up'}`

export function orderIn(text: string): Order {
  const [column, direction] = text.split(' ')
  const known = columns.find((one) => one === column)
  return known === undefined ? newestFirst : { column: known, down: direction === 'down' }
}

export function sorted(libraries: readonly LibraryItem[], { column, down }: Order, language: string) {
  const collator = new Intl.Collator(language, { numeric: true })
  const byName = (a: LibraryItem, b: LibraryItem) => collator.compare(a.repo_name, b.repo_name)
  const compare = {
    name: byName,
    size: (a: LibraryItem, b: LibraryItem) => a.size - b.size,
    modified: (a: LibraryItem, b: LibraryItem) => Date.parse(a.last_modified) - Date.parse(b.last_modified),
  }[column]
  return libraries.toSorted((a, b) => (down ? -1 : 1) * compare(a, b) || byName(a, b))
}

function remembered(): Order {
  return orderIn(localStorage.getItem(KEY) ?? '')
}
