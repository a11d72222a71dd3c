"use strict";
// All screens, in the order of their tabs.
import {start} from "./page.js";
import "./start.js";
import "./plan.js";
import "./compare.js";
import "./tradeoff.js";
import "./operate.js";

start();
