import { useTexts } from '../texts/texts.tsx'
import { columns, type Order, orderIn, textOf } from './order.ts'

/** The order as one choice, where there are no heads of columns to press. */
export function OrderSelect(props: { order: Order; onChange: (order: Order) => void }) {
  const texts = useTexts('libraries')
  const common = useTexts('common')
  return (
    <select
      className="input libraries-order"
      aria-label={texts.sortBy}
      value={textOf(props.order)}
      onChange={(event) => props.onChange(orderIn(event.target.value))}
    >
      {columns.flatMap((column) =>
        [false, true].map((down) => (
          <option key={`${column}${down}`} value={textOf({ column, down })}>
            {down ? texts.descending(common[column]) : texts.ascending(common[column])}
          </option>
        )),
      )}
    </select>
  )
}
