import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton } from './button.tsx'
import { addDays, addMonths, firstDayOfWeek, weeksOf } from './calendar-dates.ts'
import { forwardKey } from './direction.ts'

/** A month to choose a day from. Arrow keys move by day and week, Page Up and Page Down by month. */
export function Calendar(props: {
  /** Empty if none is chosen. */
  value: string
  today: string
  min?: string | undefined
  max?: string | undefined
  onChoose: (date: string) => void
}) {
  const { value, today, min = '', max = '9999-12-31' } = props
  const texts = useTexts('common')
  const { locale } = useFormats()
  const [focused, setFocused] = useState(value || (today < min ? min : today))
  const table = useRef<HTMLTableElement>(null)
  const firstDay = firstDayOfWeek(locale)
  const weeks = weeksOf(focused, firstDay)
  const format = (date: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(Date.parse(date))
  // A Monday, so that the names of the days follow it.
  const weekdays = Array.from({ length: 7 }, (_, index) => addDays('2024-01-01', firstDay - 1 + index))
  const isAllowed = (date: string) => date >= min && date <= max

  // By the keyboard. The buttons for another month keep the focus.
  const isMoved = useRef(false)
  useEffect(() => {
    if (!isMoved.current) return
    isMoved.current = false
    table.current?.querySelector<HTMLElement>(`[data-date="${focused}"]`)?.focus()
  }, [focused])

  function onKeyDown(event: KeyboardEvent): void {
    const next = afterKey(focused, event)
    if (next === undefined) return
    event.preventDefault()
    isMoved.current = true
    setFocused(next)
  }

  const month = format(focused, { month: 'long', year: 'numeric' })
  return (
    <div className="calendar">
      <div className="calendar-head">
        <IconButton
          label={texts.previousMonth}
          icon={ChevronLeft}
          onClick={() => setFocused(addMonths(focused, -1))}
        />
        <strong aria-live="polite">{month}</strong>
        <IconButton
          label={texts.nextMonth}
          icon={ChevronRight}
          onClick={() => setFocused(addMonths(focused, 1))}
        />
      </div>
      {/* The days in it take the focus. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a grid is more than a table. */}
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the grid pattern for calendars. */}
      <table ref={table} role="grid" aria-label={month} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {weekdays.map((day) => (
              <th key={day} scope="col" abbr={format(day, { weekday: 'long' })}>
                {format(day, { weekday: 'short' })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week.find((day) => day !== undefined)}>
              {week.map((day, column) => (
                <td key={day ?? column} aria-selected={day !== undefined && day === value}>
                  {day !== undefined && (
                    <button
                      type="button"
                      data-date={day}
                      tabIndex={day === focused ? 0 : -1}
                      disabled={!isAllowed(day) && day !== focused}
                      aria-disabled={!isAllowed(day)}
                      aria-label={format(day, { dateStyle: 'full' })}
                      aria-current={day === today ? 'date' : undefined}
                      onClick={() => isAllowed(day) && props.onChoose(day)}
                    >
                      {Number(day.slice(8))}
                    </button>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function afterKey(date: string, event: KeyboardEvent): string | undefined {
  const key = forwardKey(event.key)
  const { shiftKey } = event
  if (key === 'ArrowRight') return addDays(date, 1)
  if (key === 'ArrowLeft') return addDays(date, -1)
  if (key === 'ArrowDown') return addDays(date, 7)
  if (key === 'ArrowUp') return addDays(date, -7)
  if (key === 'PageDown') return addMonths(date, shiftKey ? 12 : 1)
  if (key === 'PageUp') return addMonths(date, shiftKey ? -12 : -1)
  return undefined
}
