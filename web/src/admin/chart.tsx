import { type PointerEvent, useId, useState } from 'react'
import type { DayValue } from '../api/index.ts'

/** The drawing is stretched to its place. Its labels are text of the page, so they keep their size. */
const SIZE = 100
const GRID = [1, 0.5, 0]

/** Line chart by day, with a table of the values for screen readers. The day under the pointer is shown with its value. */
export function LineChart(props: {
  title: string
  columns: { day: string; value: string }
  days: readonly DayValue[]
  format: (value: number) => string
  formatDay: (time: string) => string
}) {
  const { days, format, formatDay } = props
  const id = useId()
  const [pointed, setPointed] = useState<number>()
  const top = niceTop(Math.max(...days.map(({ value }) => value), 0))
  const times = days.map(({ time }) => new Date(time).getTime())
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const x = (time: number) => (last === first ? SIZE / 2 : ((time - first) / (last - first)) * SIZE)
  const y = (value: number) => SIZE - (value / top) * SIZE
  const points = days.map(({ value }, index) => [x(times[index] ?? 0), y(value)] as const)
  const line = points
    .map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${px.toFixed(2)} ${py.toFixed(2)}`)
    .join('')
  const shown = days[pointed ?? days.length - 1]
  const at = points[pointed ?? points.length - 1]

  function point(event: PointerEvent<HTMLElement>): void {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const position = ((event.clientX - left) / width) * SIZE
    const distances = points.map(([px]) => Math.abs(px - position))
    setPointed(distances.indexOf(Math.min(...distances)))
  }

  return (
    <figure className="card admin-chart" aria-labelledby={id}>
      <figcaption id={id}>
        <h2>{props.title}</h2>
        {shown && (
          <span className="admin-chart-value">
            <strong>{format(shown.value)}</strong>
            <span className="muted">{formatDay(shown.time)}</span>
          </span>
        )}
      </figcaption>
      <div className="admin-plot" aria-hidden>
        <div className="admin-plot-values">
          {GRID.map((part) => (
            <span key={part}>{format(top * part)}</span>
          ))}
        </div>
        <div
          className="admin-plot-area"
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          <svg viewBox={`0 0 ${SIZE} ${SIZE}`} preserveAspectRatio="none">
            {GRID.map((part) => (
              <line
                key={part}
                className="admin-grid"
                x1={0}
                x2={SIZE}
                y1={y(top * part)}
                y2={y(top * part)}
              />
            ))}
            {points.length > 1 && <path className="admin-area" d={`${line}L${SIZE} ${SIZE}L0 ${SIZE}z`} />}
            <path className="admin-line" d={line} />
          </svg>
          {at && <i className="admin-point" style={{ left: `${at[0]}%`, top: `${at[1]}%` }} />}
        </div>
        <div className="admin-plot-days">
          {days.length > 0 && <span>{formatDay(days[0]?.time ?? '')}</span>}
          {days.length > 1 && <span>{formatDay(days.at(-1)?.time ?? '')}</span>}
        </div>
      </div>
      <table className="visually-hidden">
        <caption>{props.title}</caption>
        <thead>
          <tr>
            <th scope="col">{props.columns.day}</th>
            <th scope="col">{props.columns.value}</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ time, value }) => (
            <tr key={time}>
              <td>{formatDay(time)}</td>
              <td>{format(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** Rounds up to 1, 2, 4 or 10 times a power of ten, so that half of it is a round number too. */
function niceTop(most: number): number {
  if (most <= 2) return 2
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [1, 2, 4, 10].find((one) => one * power >= most) ?? 10
  return step * power
}
