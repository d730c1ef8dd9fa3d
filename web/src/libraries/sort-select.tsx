import { useTexts } from '../texts/index.ts'
import { type Order, orderIn, textOf } from './sorting.ts'

/** Sort order as a select, for narrow screens without column headers. */
export function SortSelect(props: { order: Order; onChange: (order: Order) => void }) {
  const texts = useTexts('libraries')
  const choices: readonly [Order, string][] = [
    [{ column: 'name', down: false }, texts.nameUp],
    [{ column: 'name', down: true }, texts.nameDown],
    [{ column: 'modified', down: true }, texts.newestFirst],
    [{ column: 'modified', down: false }, texts.oldestFirst],
    [{ column: 'size', down: true }, texts.largestFirst],
    [{ column: 'size', down: false }, texts.smallestFirst],
  ]
  return (
    <select
      className="input libraries-order"
      aria-label={texts.sortBy}
      value={textOf(props.order)}
      onChange={(event) => props.onChange(orderIn(event.target.value))}
    >
      {choices.map(([order, label]) => (
        <option key={label} value={textOf(order)}>
          {label}
        </option>
      ))}
    </select>
  )
}
