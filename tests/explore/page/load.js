'use strict';
// The page's scripts that need no document, in the order of the template.
const fs = require('node:fs');
const path = require('node:path');
const { PAGE } = require('./sample.js');

const template = fs.readFileSync(path.join(PAGE, 'template.html'), 'utf8');
const scripts = [...template.matchAll(/<script src="([\w./]+)">/g)].map(found => found[1]);
for (const script of scripts.slice(0, scripts.indexOf('dom.js'))) require(path.join(PAGE, script));

module.exports = { scripts, template };
