import { type ReactNode, useId } from 'react'
import type { TrashAction } from '../api/index.ts'
import { useFormats } from '../texts/index.ts'

/** Actions of a trash, latest first, by day. */
export function TrashDays<Action extends TrashAction>(props: {
  actions: readonly Action[]
  children: (action: Action) => ReactNode
}) {
  const formats = useFormats()
  const byDay = Map.groupBy(props.actions, ({ deleted_time }) => formats.day(deleted_time))
  return Array.from(byDay, ([day, actions]) => <Day key={day} day={day} rows={actions.map(props.children)} />)
}

function Day(props: { day: string; rows: readonly ReactNode[] }) {
  const id = useId()
  return (
    <section className="history-day" aria-labelledby={id}>
      <h2 id={id}>{props.day}</h2>
      <ul className="card trash">{props.rows}</ul>
    </section>
  )
}
