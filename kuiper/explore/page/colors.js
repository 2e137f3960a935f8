'use strict';
// Colour scales, even to the eye: they are made in OKLCH (Ottosson 2020), where equal steps look equal.
(kuiper => {
  const STEPS = 256;
  const MISSING = [255, 0, 200]; // NaN and infinity: a colour that no scale has

  function linear(lightness, chroma, hue) {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
  }

  const gamma = x => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);

  /** Red, green and blue (0 to 255) of a colour; one that no screen can show loses chroma, not lightness. */
  function screen(lightness, chroma, hue) {
    const fits = c => linear(lightness, c, hue).every(x => x > -1e-4 && x < 1.0001);
    let c = chroma;
    while (c > 0 && !fits(c)) c -= 0.002;
    return linear(lightness, Math.max(c, 0), hue).map(x => Math.round(255 * gamma(Math.min(1, Math.max(0, x)))));
  }

  const table = color => Array.from({ length: STEPS }, (_, i) => color(i / (STEPS - 1)));

  /** 0 to 1: from dark violet over blue and green to light yellow; the lightness grows evenly. */
  const unsigned = table(t => screen(0.2 + 0.76 * t, 0.13, 300 - 195 * t));

  /** -1 to 1: blue below zero, orange above; zero is the colour of the page's ground. */
  const signedOn = dark =>
    table(t => {
      const x = 2 * t - 1;
      const lightness = dark ? 0.24 + 0.56 * Math.abs(x) : 0.97 - 0.47 * Math.abs(x);
      return screen(lightness, 0.17 * Math.abs(x) ** 0.8, x < 0 ? 255 : 48);
    });
  const signed = { light: signedOn(false), dark: signedOn(true) };

  /** The scale of values between low and high: signed around zero if both signs are among them,
    or if it is asked for. */
  function scale(low, high, dark = false, isSigned = low < 0 && high > 0) {
    const end = Math.max(-low, high);
    const from = isSigned ? -end : low;
    const to = isSigned ? end : high;
    const colors = isSigned ? signed[dark ? 'dark' : 'light'] : unsigned;
    const factor = to > from ? (STEPS - 1) / (to - from) : 0;
    const color = value => {
      if (!Number.isFinite(value)) return MISSING;
      return colors[Math.min(STEPS - 1, Math.max(0, Math.round((value - from) * factor)))];
    };
    return { color, from, to, isSigned, colors };
  }

  const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

  /** Black or white, whichever is easier to read on a colour. */
  function inkOn([red, green, blue]) {
    const light = [red, green, blue].map(x =>
      (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? '#000' : '#fff';
  }

  kuiper.colors = { css, inkOn, scale, screen, unsigned, signed, MISSING };
})((globalThis.kuiper ??= {}));
