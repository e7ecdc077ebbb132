// The address of a question, to bookmark and to go back to: #fr/roi, or #fr/de/roi where the target is not the usual one;
// of a sentence and its translation #fr/en/roi/king.
export function address({ source, target, text, translation = null }, languages) {
  const usual = target === languages.defaultTarget(source);
  const parts = translation !== null ? [source, target, text, translation] : usual ? [source, text] : [source, target, text];
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

// The question of an address; null if there is none, or about other languages.
export function question(hash, languages) {
  const parts = hash.replace(/^#/, "").split("/").map(decoded);
  if (parts.length < 2 || parts.length > 4 || parts.includes(null)) return null;
  const [source, translation] = [parts[0], parts[3] ?? null];
  const target = parts.length > 2 ? parts[1] : languages.defaultTarget(source);
  const text = parts[Math.min(2, parts.length - 1)];
  const known = [source, target].every((code) => languages.codes.includes(code));
  return known && source !== target && text && translation !== "" ? { source, target, text, translation } : null;
}

// The languages of an address that the space lacks, such as de in #de/König where it has French and English.
export function strangers(hash, languages) {
  const parts = hash.replace(/^#/, "").split("/").map(decoded);
  if (parts.length < 2 || parts.length > 4 || parts.includes(null)) return [];
  return parts.slice(0, Math.min(2, parts.length - 1)).filter((code) => !languages.codes.includes(code));
}

// Adds a question to the way back, and its address to the window's.
export function remember(asked, languages) {
  const hash = address(asked, languages);
  if (hash !== location.hash) history.pushState(null, "", hash);
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
