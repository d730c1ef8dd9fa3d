import { useMemo } from 'react'
import { useFormats, useLanguage, useTexts } from '../texts/index.ts'
import type { TimelineMonth } from './timeline-rows.ts'

/** The years of the timeline, and the months of the one that is shown. */
export function DateRail(props: {
  months: readonly TimelineMonth[]
  current: string
  onGo: (month: TimelineMonth) => void
}) {
  const { months, current, onGo } = props
  const texts = useTexts('photos')
  const formats = useFormats()
  const monthName = useMonthName('short')
  const years = [...Map.groupBy(months, ({ month }) => month.slice(0, 4))]
  const label = ({ month, count }: TimelineMonth) => `${monthName(month)} (${formats.number(count)})`
  return (
    <nav className="photos-rail" aria-label={texts.dates}>
      {years.map(([year, some]) => (
        <div key={year}>
          <button
            type="button"
            className="photos-year"
            aria-current={current.startsWith(year) ? 'true' : undefined}
            onClick={() => some[0] && onGo(some[0])}
          >
            {year}
          </button>
          {current.startsWith(year) &&
            some.map((one) => (
              <button
                key={one.month}
                type="button"
                className="photos-month"
                aria-current={one.month === current ? 'true' : undefined}
                aria-label={`${label(one)} ${year}`}
                onClick={() => onGo(one)}
              >
                {monthName(one.month)}
              </button>
            ))}
        </div>
      ))}
    </nav>
  )
}

/** Formats `YYYY-MM`: with the year, or the short name of the month alone. */
export function useMonthName(style: 'long' | 'short' = 'long'): (month: string) => string {
  const { language } = useLanguage()
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(language, {
      month: style,
      timeZone: 'UTC',
      ...(style === 'long' && { year: 'numeric' as const }),
    })
    return (month) => format.format(new Date(`${month}-01T00:00:00Z`))
  }, [language, style])
}
