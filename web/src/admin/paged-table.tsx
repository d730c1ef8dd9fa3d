import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import type { Key, ReactNode } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, Empty, LoadError, Waiting } from '../ui/index.ts'

interface Column<T> {
  readonly head: string
  /** Explains the column on hover. */
  readonly hint?: string
  readonly cell: (item: T) => ReactNode
  /** Hidden on narrow screens. */
  readonly wide?: boolean
  readonly end?: boolean
}

/** Table of a paged query, with empty and error states. */
export function PagedTable<T>(props: {
  label: string
  query: UseInfiniteQueryResult<InfiniteData<{ readonly items: readonly T[] }>>
  keyOf: (item: T) => Key
  columns: readonly Column<T>[]
  actions?: (item: T) => ReactNode
  empty: { icon: LucideIcon; title: string; hint?: string }
}) {
  const { query } = props
  const common = useTexts('common')
  const texts = useTexts('admin')
  if (query.isPending) return <Waiting />
  if (query.isError) return <LoadError error={query.error} onRetry={() => void query.refetch()} />
  const items = query.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <Empty {...props.empty} />
  const classOf = ({ wide, end }: Column<T>) => `${wide ? 'admin-wide' : ''}${end ? ' admin-end' : ''}`.trim()
  return (
    <>
      <table className="table admin-table" aria-label={props.label} aria-busy={query.isFetching}>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.head} scope="col" className={classOf(column)} title={column.hint}>
                {column.head}
              </th>
            ))}
            {props.actions && (
              <th scope="col">
                <span className="visually-hidden">{texts.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={props.keyOf(item)}>
              {props.columns.map((column) => (
                <td key={column.head} className={classOf(column)}>
                  {column.cell(item)}
                </td>
              ))}
              {props.actions && <td className="admin-actions">{props.actions(item)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {query.hasNextPage && (
        <Button
          className="sharing-another"
          busy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {common.loadMore}
        </Button>
      )}
    </>
  )
}

/** Cell of the first column: a name with a second line. */
export function Named(props: {
  icon?: ReactNode
  name: ReactNode
  about?: ReactNode
  title?: string
  badge?: string | undefined
  /** Replaces the hidden columns on narrow screens. */
  narrow?: ReactNode
}) {
  return (
    <span className="admin-named">
      {props.icon}
      <span className="sharing-names" title={props.title}>
        <bdi>{props.name}</bdi>
        {props.about && <span className="muted">{props.about}</span>}
        {props.narrow && <span className="muted admin-narrow">{props.narrow}</span>}
      </span>
      {props.badge && <span className="badge badge-warn">{props.badge}</span>}
    </span>
  )
}
