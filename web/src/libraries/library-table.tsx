import { ArrowDown, ArrowUp } from 'lucide-react'
import { useState } from 'react'
import type { LibraryItem } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button } from '../ui/index.ts'
import type { OpenDialog } from './library-dialogs.tsx'
import { LibraryRow } from './library-row.tsx'
import { type Column, columns, type Order, orderAfter } from './sorting.ts'

/** Rows are rendered in steps, because each has its own menus and thousands would be slow. */
const ROWS_AT_ONCE = 200

export function LibraryTable(props: {
  type: LibraryItem['type']
  label: string
  libraries: readonly LibraryItem[]
  order: Order
  onOrder: (order: Order) => void
  onOpenDialog: (dialog: OpenDialog) => void
}) {
  const { type, libraries, order } = props
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const head = (column: Column) => (
    <th
      key={column}
      className={`libraries-${column}`}
      aria-sort={order.column !== column ? 'none' : order.down ? 'descending' : 'ascending'}
    >
      <button
        type="button"
        className="libraries-sort"
        onClick={() => props.onOrder(orderAfter(order, column))}
      >
        {common[column]}
        {order.column === column &&
          (order.down ? <ArrowDown size={14} aria-hidden /> : <ArrowUp size={14} aria-hidden />)}
      </button>
    </th>
  )
  return (
    <>
      <table className="table libraries-table" aria-label={props.label}>
        <thead>
          <tr>
            <th className="libraries-star">
              <span className="visually-hidden">{texts.star}</span>
            </th>
            {columns.map(head)}
            {type !== 'mine' && (
              <th className="libraries-owner">{type === 'group' ? texts.modifiedBy : common.owner}</th>
            )}
            <th className="libraries-menu">
              <span className="visually-hidden">{texts.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {libraries.slice(0, most).map((library) => (
            <LibraryRow key={library.repo_id} library={library} onOpenDialog={props.onOpenDialog} />
          ))}
        </tbody>
      </table>
      {libraries.length > most && (
        <Button onClick={() => setMost(most + ROWS_AT_ONCE)}>{common.loadMore}</Button>
      )}
    </>
  )
}
