import { useId } from 'react'
import type { DayValue } from '../api/index.ts'

const WIDTH = 350
const HEIGHT = 190
const LEFT = 70
const BOTTOM = 28
const TOP = 12
const RIGHT = 8

/** Line chart by day, with a table of the values for screen readers. */
export function LineChart(props: {
  title: string
  columns: { day: string; value: string }
  days: readonly DayValue[]
  format: (value: number) => string
  formatDay: (time: string) => string
}) {
  const { days, format, formatDay } = props
  const id = useId()
  const top = niceTop(Math.max(...days.map(({ value }) => value), 0))
  const times = days.map(({ time }) => new Date(time).getTime())
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const x = (time: number) =>
    last === first
      ? (LEFT + WIDTH - RIGHT) / 2
      : LEFT + ((time - first) / (last - first)) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP)
  const points = days.map(({ value }, index) => [x(times[index] ?? 0), y(value)] as const)
  const line = points
    .map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${px.toFixed(1)} ${py.toFixed(1)}`)
    .join('')
  const base = HEIGHT - BOTTOM
  const latest = days.at(-1)
  return (
    <figure className="card admin-chart" aria-labelledby={id}>
      <figcaption id={id}>
        <h2>{props.title}</h2>
        {latest && <strong>{format(latest.value)}</strong>}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line className="admin-grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(top * part)} y2={y(top * part)} />
            <text x={LEFT - 8} y={y(top * part) + 5} textAnchor="end">
              {format(top * part)}
            </text>
          </g>
        ))}
        {points.length > 1 && (
          <path
            className="admin-area"
            d={`${line}L${x(last).toFixed(1)} ${base}L${x(first).toFixed(1)} ${base}z`}
          />
        )}
        <path className="admin-line" d={line} />
        {points.map(([px, py], index) => (
          <circle key={times[index]} className="admin-point" cx={px} cy={py} r={points.length > 60 ? 0 : 3} />
        ))}
        {days.length > 0 && (
          <text x={x(first)} y={HEIGHT - 6} textAnchor={days.length > 1 ? 'start' : 'middle'}>
            {formatDay(days[0]?.time ?? '')}
          </text>
        )}
        {days.length > 1 && (
          <text x={x(last)} y={HEIGHT - 6} textAnchor="end">
            {formatDay(latest?.time ?? '')}
          </text>
        )}
      </svg>
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
