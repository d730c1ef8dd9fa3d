/** What a camera wrote into a photo, as text to show. Undefined where it wrote nothing. */
interface PhotoDetails {
  readonly camera: string | undefined
  readonly lens: string | undefined
  /** Shutter time, aperture, ISO and focal length. */
  readonly exposure: string | undefined
  /** Local time of the camera, as `YYYY-MM-DD HH:MM:SS`. */
  readonly taken: string | undefined
  /** Degrees north and east. */
  readonly place: { readonly latitude: number; readonly longitude: number } | undefined
}

type Tags = Readonly<Record<string, { readonly description?: unknown } | undefined>>

const MAX_LENGTH = 120

/** Reads the tags in the first bytes of a photo. Undefined if there are none. */
export async function readPhotoDetails(bytes: ArrayBuffer): Promise<PhotoDetails | undefined> {
  const { load } = await import('exifreader')
  try {
    return detailsOf(load(bytes, { includeUnknown: false }))
  } catch {
    // The file has no tags, or damaged ones.
    return undefined
  }
}

export function detailsOf(tags: Tags): PhotoDetails | undefined {
  const text = (name: string) => {
    const found = tags[name]?.description
    if (typeof found !== 'string' && typeof found !== 'number') return undefined
    return String(found).split('\0').join('').trim().slice(0, MAX_LENGTH) || undefined
  }
  const [make, model] = [text('Make'), text('Model')]
  const exposure = [text('ExposureTime'), text('FNumber'), text('ISOSpeedRatings'), text('FocalLength')]
  const [time, aperture, iso, length] = exposure
  const details = {
    camera:
      model !== undefined && make !== undefined && !model.startsWith(make)
        ? `${make} ${model}`
        : (model ?? make),
    lens: text('LensModel'),
    exposure:
      [time && `${time} s`, aperture, iso && `ISO ${iso}`, length]
        .filter((one) => one !== undefined)
        .join(' · ') || undefined,
    taken: timeOf(text('DateTimeOriginal') ?? text('DateTime')),
    place: placeOf(text),
  }
  return Object.values(details).some((one) => one !== undefined) ? details : undefined
}

function timeOf(sent: string | undefined): string | undefined {
  const parts = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/.exec(sent ?? '')
  return parts === null ? undefined : `${parts[1]}-${parts[2]}-${parts[3]} ${parts[4]}`
}

function placeOf(text: (name: string) => string | undefined): PhotoDetails['place'] {
  const [latitude, longitude] = [Number(text('GPSLatitude')), Number(text('GPSLongitude'))]
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) || (latitude === 0 && longitude === 0))
    return undefined
  const south = text('GPSLatitudeRef')?.startsWith('S') ?? false
  const west = text('GPSLongitudeRef')?.startsWith('W') ?? false
  return { latitude: south ? -latitude : latitude, longitude: west ? -longitude : longitude }
}
